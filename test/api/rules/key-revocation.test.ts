// A key that is revoked, or otherwise unfit, spends nothing from that moment on, whatever was accepted
// before.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { IMAGE_MODEL, uniqueWord, VIDEO_MODEL } from '../../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../../support/until.ts';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { revokeKey } from '../../../db/keys/key-changes.ts';
import { reserve } from '../../../db/ledger/reservations.ts';

const IMAGES = '/v1/images/generations';

describe('a key that may not spend any more', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const order = (user: TestUser, prompt: string) => user.key.post(IMAGES, { model: IMAGE_MODEL, prompt });
  const ordered = async (user: TestUser, prompt = '[[sandbox seconds=0]]'): Promise<string> => {
    const { status, body } = await order(user, prompt);
    expect(status, JSON.stringify(body)).to.equal(202);
    return body.id;
  };
  const set = (user: TestUser, assignment: RawQueryFragment) =>
    gateway.em().execute(sql`update api_key set ${assignment} where id = ${user.keyId}`);
  const change = (user: TestUser, limits: object) => user.session.patch(`/api/keys/${user.keyId}`, limits);
  const revoke = (user: TestUser) => user.session.delete(`/api/keys/${user.keyId}`);
  const disable = ({ id }: TestUser) =>
    gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${id}`);
  const countersOf = async ({ keyId }: TestUser) => {
    const [row] = await gateway.em().execute<object[]>(sql`
      select used::int, reserved::int, day_used::int as "dayUsed", day_reserved::int as "dayReserved"
      from key_spending where key_id = ${keyId}`);
    return row;
  };
  const UNUSED = { used: 0, reserved: 0, dayUsed: 0, dayReserved: 0 };

  it('is waited for while its revocation is being written; a reservation then finds it revoked', async () => {
    const user = await gateway.createUser();
    const task = { taskId: await ordered(user), attempt: 1 };
    const { verdict } = await gateway.em().transactional(async (tx) => {
      await revokeKey(tx, { userId: user.id, origin: COMMAND_LINE }, user.keyId);
      const verdict = reserve(gateway.em(), task);
      await until('the reservation waits for the key', async () => {
        const waiting = await gateway.em().execute<object[]>(sql`
          select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%reserve_attempt%'`);
        return waiting.length > 0;
      });
      return { verdict };
    });
    expect(await verdict).to.deep.equal({ kind: 'refused', reason: 'invalid_api_key' });
    expect(await countersOf(user)).to.deep.equal(UNUSED);
  });

  it('pays for nothing that was accepted but not yet admitted: the task fails and costs nothing', async () => {
    const word = uniqueWord();
    const changes: [title: string, errorCode: string, act: (user: TestUser) => Promise<unknown>][] = [
      ['revoked', 'invalid_api_key', revoke],
      ['expired', 'expired_api_key', (user) => set(user, sql`expires_at = now()`)],
      ['out of scope', 'model_not_allowed', (user) => change(user, { modelScope: [VIDEO_MODEL] })],
      ['over its quota', 'key_quota_exceeded', (user) => change(user, { quota: 3 })],
      ['over its budget', 'daily_budget_exceeded', (user) => change(user, { dailyBudget: 3 })],
      ['a disabled user’s', 'account_disabled', disable],
    ];
    const cases = await Promise.all(
      changes.map(async ([title, errorCode, act]) => {
        const user = await gateway.createUser();
        const id = await ordered(user, `${word} [[sandbox seconds=0]]`);
        await act(user);
        return { title, errorCode, user, id };
      }),
    );
    await gateway.startWorker();
    for (const { title, errorCode, user, id } of cases) {
      const end = await until(`the task whose key is ${title} has ended`, () => readEnd(id));
      expect(end, title).to.deep.equal({ status: 'failed', errorCode, charged: '0', reservations: 0 });
      expect(await countersOf(user), title).to.deep.equal(UNUSED);
    }
    expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(0);
  });

  it('is refused at once, but what it had already been admitted for is finished and charged', async () => {
    const user = await gateway.createUser();
    const id = await ordered(user, '[[sandbox seconds=1]]');
    await untilStatus(user.session, id, 'in_progress');
    await revoke(user);
    expectError(await order(user, 'x'), 401, 'invalid_api_key', null);
    expect(await untilFinal(user.session, id)).to.include({ status: 'completed', creditsCharged: 4 });
    expect(await countersOf(user)).to.include({ used: 4_000_000, reserved: 0 });
  });

  it('is refused with 403 when its user is disabled', async () => {
    const user = await gateway.createUser();
    await disable(user);
    expectError(await order(user, 'x'), 403, 'account_disabled', null);
    expectError(await user.key.get('/api/usage/token'), 403, 'account_disabled', null);
  });

  const readEnd = async (taskId: string) => {
    const [row] = await gateway.em().execute<object[]>(sql`
      select status, error_code as "errorCode", credits_charged as charged,
             (select count(*)::int from task_attempt where task_id = t.id) as reservations
      from task t where id = ${taskId} and completed_at is not null`);
    return row;
  };
});
