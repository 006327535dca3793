// How often a webhook is sent, and what becomes of one whose receiver does not take it.
import { expect } from 'chai';
import { readMetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { claimFirstAttempts } from '../../db/webhooks/outbox.ts';
import { relayOnce } from '../../worker/webhook-relay.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderImage } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';
import {
  makeWebhook,
  startReceiver,
  untilDelivery,
  type Receiver,
  type Respond,
} from '../support/webhooks.ts';

/** Three attempts in all, without the real pauses. */
const DELAYS_MS = [50, 100];

const ANSWERS: Record<string, Respond> = {
  '/fails-once': (res, { seen }) => void res.writeHead(seen === 1 ? 500 : 200).end('thanks'),
  '/fails': (res) => void res.writeHead(503).end('not today'),
  '/gone': (res) => void res.writeHead(410).end(),
  '/redirects': (res) => void res.writeHead(307, { location: '/redirected' }).end(),
  '/resets': (res) => void res.destroy(),
  '/lies': (res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('short');
    setTimeout(() => res.destroy(), 20);
  },
  '/endless': async (res) => {
    res.writeHead(200);
    while (!res.destroyed) {
      res.write('x');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
  '/long': (res) => void res.writeHead(200).end('y'.repeat(100_000)),
};

describe('a webhook that is sent', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ webhooks: { retryDelaysMs: DELAYS_MS } });
    receiver = await startReceiver(async (res, request) => {
      const answer = ANSWERS[request.path.split('?')[0] ?? ''];
      await (answer ? answer(res, request) : res.writeHead(204).end());
    });
  });
  after(async () => {
    await receiver.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  let hooks = 0;
  /** A webhook at a path of its own, so that tests do not see each other's. */
  const makeHook = async (at = '/', fields: object = {}) => {
    hooks += 1;
    const path = `${at}?${hooks}`;
    return { ...(await makeWebhook(owner.session, { url: receiver.url + path, ...fields })), path };
  };
  const test = (id: string) => owner.session.post(`/api/webhooks/${id}/test`);

  it('is sent again with the same id until the receiver takes it', async () => {
    const hook = await makeHook('/fails-once');
    await test(hook.id);
    const delivery = await untilDelivery(owner.session, hook.id, 'delivered');
    const [first, second] = receiver.at(hook.path);
    expect(second?.id).to.equal(first?.id).and.to.equal(delivery.eventId);
    expect(delivery).to.deep.include({ attempts: 2, failure: null, nextAttemptAt: null });
    expect(delivery.answer).to.deep.equal({ status: 200, body: 'thanks' });
  });

  for (const [path, failure, answer] of [
    ['/fails', 'rejected', { status: 503, body: 'not today' }],
    ['/redirects', 'rejected', { status: 307, body: '' }],
    ['/resets', 'unreachable', null],
  ] as const)
    it(`that ${path.slice(1)} has failed after its last attempt, with the reason`, async () => {
      const hook = await makeHook(path);
      await test(hook.id);
      const delivery = await untilDelivery(owner.session, hook.id, 'failed');
      expect(delivery).to.deep.include({ attempts: DELAYS_MS.length + 1, nextAttemptAt: null, answer });
      expect(delivery.failure?.code).to.equal(failure);
      expect(receiver.at('/redirected')).to.deep.equal([]);
      const { data } = (await owner.session.get(`/api/webhooks/${hook.id}`)).body;
      expect(data.failingSince).to.be.a('string');
    });

  for (const path of ['/lies', '/endless', '/long'])
    it(`that answers 200 and ${path.slice(1)} is delivered at once; of its answer 16 KB are kept`, async () => {
      const hook = await makeHook(path);
      await test(hook.id);
      const delivery = await untilDelivery(owner.session, hook.id, 'delivered');
      expect(delivery.attempts).to.equal(1);
      expect(delivery.answer?.body.length).to.be.within(1, 16 * 1024);
    });

  it('that answers 410 is disabled at once, and says so', async () => {
    const hook = await makeHook('/gone');
    await test(hook.id);
    await untilDelivery(owner.session, hook.id, 'failed');
    const { data } = (await owner.session.get(`/api/webhooks/${hook.id}`)).body;
    expect(data).to.include({ disabledReason: 'gone' });
    const events = (await owner.session.get('/api/security-events')).body.data;
    expect(events[0]).to.deep.include({ action: 'DISABLE_WEBHOOK', actor: null, detail: { reason: 'gone' } });
    await untilFinal(owner.session, (await orderImage(owner.session)).id);
    expect(receiver.at(hook.path)).to.have.length(1);
  });

  it('that has failed for five days is disabled, and says so', async () => {
    const hook = await makeHook('/fails');
    await gateway.em().execute(`update webhook_endpoint set failing_since = now() - interval '5 days 1 minute'
      where id = '${hook.id}'`);
    await test(hook.id);
    const { data } = await until('it is disabled', async () => {
      const { body } = await owner.session.get(`/api/webhooks/${hook.id}`);
      return body.data.disabledAt && body;
    });
    expect(data.disabledReason).to.equal('failing');
    expect(await untilDelivery(owner.session, hook.id, 'failed')).to.have.nested.property(
      'failure.code',
      'webhook_disabled',
    );
    expect(receiver.at(hook.path)).to.have.length(1);
  });

  it('whose receiver hangs delays no other', async () => {
    const release: (() => void)[] = [];
    const hanging = await startReceiver(
      (res) =>
        new Promise((resolve) => {
          release.push(() => {
            res.writeHead(204).end();
            resolve();
          });
        }),
    );
    const stuck = await makeWebhook(owner.session, { url: hanging.url });
    const quick = await makeHook();
    for (let tests = 0; tests < 30; tests += 1) await test(stuck.id);
    await until('its first attempts are under way', async () => hanging.received.length >= 10);
    await test(quick.id);
    await receiver.until(quick.path, 1, 5_000);
    expect(hanging.received).to.have.length(10);
    const freeing = setInterval(() => release.splice(0).forEach((free) => free()), 20);
    await until('all have arrived', async () => hanging.received.length === 30);
    clearInterval(freeing);
    release.splice(0).forEach((free) => free());
    await hanging.close();
  });

  it('gets nothing after its deletion was answered', async () => {
    const hook = await makeHook('/fails');
    for (let tests = 0; tests < 20; tests += 1) await test(hook.id);
    await receiver.until(hook.path, 1);
    expect((await owner.session.delete(`/api/webhooks/${hook.id}`)).status).to.equal(204);
    const deletedAt = Date.now();
    await until('nothing is pending', async () => {
      const [row] = await gateway
        .em()
        .execute<{ count: string }[]>(
          `select count(*) from webhook_delivery where endpoint_id = '${hook.id}' and state = 'pending'`,
        );
      return row?.count === '0';
    });
    const other = await makeHook();
    await test(other.id);
    await receiver.until(other.path, 1);
    expect(receiver.at(hook.path).filter(({ at }) => at > deletedAt + 5)).to.deep.equal([]);
  });

  it('gets nothing once its user is disabled, and what was due is not sent later', async () => {
    const hook = await makeHook('/fails-once');
    await gateway.stopWorker();
    for (let tests = 0; tests < 2; tests += 1) await test(hook.id);
    const setDisabled = (at: string) =>
      gateway.em().execute(`update app_user set disabled_at = ${at} where id = '${owner.id}'`);
    await gateway.em().execute(`update webhook_delivery set attempts = 1, relay_after = now() where id = (
      select min(id) from webhook_delivery where endpoint_id = '${hook.id}')`);
    await setDisabled('now()');
    await gateway.startWorker();
    const states = await until('nothing is pending', async () => {
      const rows = await gateway
        .em()
        .execute<{ state: string; failure: string }[]>(
          `select state, failure from webhook_delivery where endpoint_id = '${hook.id}'`,
        );
      return rows.every(({ state }) => state !== 'pending') && rows;
    });
    expect(receiver.at(hook.path)).to.deep.equal([]);
    expect(states.map(({ failure }) => failure)).to.deep.equal(['webhook_disabled', 'webhook_disabled']);
    await setDisabled('null');
    await test(hook.id);
    expect(await receiver.until(hook.path, 1)).to.have.length(1);
  });

  it('whose process died before it was sent, or recorded, is sent by another, with the same id', async () => {
    const hook = await makeHook();
    await gateway.stopWorker();
    await test(hook.id);
    const without = { userIds: [], endpointIds: [] };
    const claim = () => claimFirstAttempts(gateway.em(), { max: 10, lastEndpointId: '', without });
    expect(await claim()).to.have.length(1);
    expect(await claim(), 'it is claimed').to.have.length(0);
    await gateway.em().execute(`update webhook_delivery set relay_after = now() where state = 'pending'`);
    await gateway.startWorker();
    const [sent] = await receiver.until(hook.path, 1);
    expect((await untilDelivery(owner.session, hook.id, 'delivered')).eventId).to.equal(sent?.id);
  });

  it('counts as due for operators while it is, unless its receiver is failing', async () => {
    const [well, failing] = [await makeHook(), await makeHook()];
    await gateway.stopWorker();
    const dueBefore = (await readMetricsSnapshot(gateway.database)).webhooksDue.count;
    for (const { id } of [well, failing]) await test(id);
    await gateway
      .em()
      .execute(`update webhook_endpoint set failing_since = now() where id = '${failing.id}'`);
    expect((await readMetricsSnapshot(gateway.database)).webhooksDue.count - dueBefore).to.equal(1);
    await gateway.startWorker();
    for (const { path } of [well, failing]) await receiver.until(path, 1);
  });

  it('whose run could not be started gets one later', async () => {
    const hook = await makeHook();
    await gateway.stopWorker();
    await test(hook.id);
    await gateway.em().execute(`update webhook_delivery set attempts = 1 where endpoint_id = '${hook.id}'`);
    const runs = { startWebhook: () => Promise.reject(new Error('Temporal is away')) };
    const look = () => relayOnce({ database: gateway.database, runs, log: { warn: () => undefined } });
    expect(await look()).to.include({ found: 1, started: 0 });
    expect(await look(), 'it is claimed').to.include({ found: 0 });
    await gateway.em().execute(`update webhook_delivery set relay_after = now() where state = 'pending'`);
    await gateway.startWorker();
    await receiver.until(hook.path, 1);
    expect(await untilDelivery(owner.session, hook.id, 'delivered')).to.include({ attempts: 2 });
  });
});
