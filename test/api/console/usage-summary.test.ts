// GET /api/usage/summary: adds up to the ledger, in every interval, group and time zone, for its owner alone.
import { expect } from 'chai';
import { refundOnce } from '../../support/credits.ts';
import { USAGE_GROUPS, USAGE_INTERVALS } from '../../../domain/usage.ts';
import { ask } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage, orderVideo } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';
import {
  addPastCall,
  addPastVideo,
  micro,
  readLedgerCharges,
  summarise,
  type Summary,
} from '../../support/usage.ts';

const PATH = '/api/usage/summary';

describe('GET /api/usage/summary', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });

  const past = (at: string, charge: number) => addPastCall(gateway.em(), { userId: owner.id, at, charge });
  const read = (query: Record<string, string> = {}) => summarise(owner.session, query);
  const startsIn = ({ data }: Summary) => data.map(({ start, credits }) => [start, Number(micro(credits))]);

  it('is empty for a user who was given credits and used none', async () => {
    const { data, total, asOf } = await read();
    expect(data).to.deep.equal([]);
    expect(total).to.deep.equal({
      ...{ credits: 0, tasks: 0, calls: 0, failed: 0, promptTokens: 0, completionTokens: 0 },
      ...{ images: 0, seconds: 0 },
    });
    expect(Date.now() - Date.parse(asOf)).to.be.within(-5_000, 60_000);
  });

  it('counts tasks, calls and refunds as they ended, and their sum is that of the ledger', async () => {
    const image = await orderImage(owner.session);
    const video = await orderVideo(owner.session);
    const failed = await orderImage(owner.session, 'seconds=0 outcome=fail');
    for (const { id } of [image, video, failed]) await untilFinal(owner.session, id);
    const usage = (await ask(owner, 'tokens=10')).body.usage;
    await ask(owner, 'submit=400');
    const back = { amount: 1_000_001n, idempotencyKey: `back:${owner.id}`, description: 'Sorry' };
    expect(await refundOnce(gateway.em(), { taskId: image.id, attempt: 1, ...back })).not.to.equal(null);
    const charged = await readLedgerCharges(gateway.em(), owner.id);
    expect(charged).to.equal(12_999_999n + micro(usage.credits_charged));
    for (const interval of USAGE_INTERVALS)
      for (const group of USAGE_GROUPS)
        for (const timezone of ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Apia']) {
          const { total } = await read({ interval, group, timezone });
          expect(micro(total.credits), `${interval} ${group} ${timezone}`).to.equal(charged);
          expect(total).to.deep.include({ tasks: 3, calls: 2, failed: 2, images: 1, seconds: 1 });
          expect(total).to.include({ promptTokens: usage.prompt_tokens, completionTokens: 10 });
        }
    const groupsBy = async (group: string) => (await read({ group })).data.map((row) => row.group);
    expect(await groupsBy('none')).to.deep.equal([null]);
    expect(await groupsBy('kind')).to.deep.equal(['chat', 'image', 'video']);
    expect(await groupsBy('model')).to.deep.equal(['gpt-6-luna', 'gpt-image-2', 'grok-imagine-video']);
    expect(await groupsBy('key')).to.deep.equal([owner.keyId, null]);
    await gateway.expectSoundMoney();
  });

  it('begins days at midnight of the time zone, half-hour zones too', async () => {
    await past('2026-03-10T18:29:59.999Z', 1);
    await past('2026-03-10T18:30:00Z', 10);
    await past('2026-03-11T02:29:59Z', 100);
    await past('2026-03-11T02:30:00Z', 1000);
    const query = { from: '2026-03-09T00:00:00Z', to: '2026-03-13T00:00:00Z' };
    expect(startsIn(await read({ ...query, timezone: 'Asia/Kolkata' }))).to.deep.equal([
      ['2026-03-09T18:30:00.000Z', 1],
      ['2026-03-10T18:30:00.000Z', 1110],
    ]);
    expect(startsIn(await read({ ...query, timezone: 'America/St_Johns' }))).to.deep.equal([
      ['2026-03-10T02:30:00.000Z', 111],
      ['2026-03-11T02:30:00.000Z', 1000],
    ]);
    expect(startsIn(await read({ ...query, timezone: 'Asia/Kolkata', interval: 'hour' }))).to.deep.equal([
      ['2026-03-10T17:30:00.000Z', 1],
      ['2026-03-10T18:30:00.000Z', 10],
      ['2026-03-11T01:30:00.000Z', 100],
      ['2026-03-11T02:30:00.000Z', 1000],
    ]);
  });

  it('knows days of 23 and 25 hours, and months in which clocks change', async () => {
    const inSpring = ['2026-03-08T04:59:59Z', '2026-03-08T05:00:00Z', '2026-03-09T03:59:59Z'];
    for (const [place, at] of [...inSpring, '2026-03-09T04:00:00Z', '2026-04-01T04:00:00Z'].entries())
      await past(at, 10 ** place);
    for (const [place, at] of ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'].entries())
      await past(at, 10 ** place);
    const timezone = 'America/New_York';
    const spring = { timezone, from: '2026-03-01T05:00:00Z', to: '2026-04-30T00:00:00Z' };
    expect(startsIn(await read(spring))).to.deep.equal([
      ['2026-03-07T05:00:00.000Z', 1],
      ['2026-03-08T05:00:00.000Z', 110],
      ['2026-03-09T04:00:00.000Z', 1000],
      ['2026-04-01T04:00:00.000Z', 10_000],
    ]);
    expect(startsIn(await read({ ...spring, interval: 'month' }))).to.deep.equal([
      ['2026-03-01T05:00:00.000Z', 1111],
      ['2026-04-01T04:00:00.000Z', 10_000],
    ]);
    const autumn = { timezone, from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', interval: 'hour' };
    expect(startsIn(await read(autumn))).to.deep.equal([
      ['2026-11-01T05:00:00.000Z', 1],
      ['2026-11-01T06:00:00.000Z', 10],
    ]);
  });

  it('takes what came from `from` on and before `to`, tasks and calls with their credits', async () => {
    for (const at of ['2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z'])
      await addPastVideo(gateway.em(), { userId: owner.id, at, charge: 7, keyId: owner.keyId });
    await past('2026-05-01T23:59:59.999Z', 5);
    const { data } = await read({ from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z', group: 'kind' });
    expect(data.map(({ group, credits, tasks, calls }) => [group, credits, tasks, calls])).to.deep.equal([
      ['chat', 0.000005, 0, 1],
      ['video', 0.000007, 1, 0],
    ]);
  });

  it('shows nothing of another user', async () => {
    const stranger = await gateway.createUser();
    await addPastVideo(gateway.em(), { userId: owner.id, at: '2026-05-01T00:00:00Z', charge: 7 });
    await ask(owner);
    const inMay = { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' };
    expect((await summarise(stranger.session, inMay)).data).to.deep.equal([]);
    expect((await summarise(stranger.session, {})).data).to.deep.equal([]);
    await ask(stranger);
    const { total } = await summarise(stranger.session, {});
    expect([total.tasks, total.calls]).to.deep.equal([0, 1]);
    expect(micro(total.credits)).to.equal(await readLedgerCharges(gateway.em(), stranger.id));
    expectError(await owner.key.get(PATH), 401, 'not_authenticated');
  });

  it('refuses what cannot be meant, and what is too much', async () => {
    for (const [query, param] of [
      ['from=2026-01-01', 'from'],
      ['to=tomorrow', 'to'],
      ['from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z', 'from'],
      ['from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z', 'from'],
      ['from=2024-02-01T00:00:00Z&to=2026-02-01T00:00:00Z', 'from'],
      ['from=2026-01-01T00:00:00Z&to=2026-02-28T00:00:00Z&interval=hour', 'from'],
      ['interval=week', 'interval'],
      ['group=user', 'group'],
      ['group=family', 'group'],
      ['timezone=Mars/Olympus', 'timezone'],
      ['timezone=%2B05:30', 'timezone'],
      ["timezone=UTC'", 'timezone'],
      ['timezone=', 'timezone'],
    ])
      expectError(await owner.session.get(`${PATH}?${query}`), 400, 'invalid_value', param);
    for (const query of [
      'from=0000-01-01T00:00:00Z&to=0000-02-01T00:00:00Z',
      'from=9999-12-01T00:00:00Z&to=9999-12-31T23:59:59Z',
    ])
      expect((await owner.session.get(`${PATH}?${query}`)).status, query).to.equal(200);
  });
});
