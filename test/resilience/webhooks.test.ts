// The API, workers, the database and Temporal die between a cause and its delivery: every event arrives, each
// time with its own id, at every endpoint that existed.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { createActor } from '../support/http/http.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startOwnPostgres, startOwnTemporal, type OwnServer } from '../support/servers/own-servers.ts';
import { startApiProcess, startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { IMAGE_MODEL, orderImage } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';
import { makeWebhook, startReceiver, type Receiver } from '../support/webhooks.ts';

const NAMESPACE = 'webhooks';
const ARRIVAL_LIMIT_MS = 90_000;

describe('webhooks while processes die', function () {
  this.timeout(300_000);
  const sharedServer = process.env['TEST_POSTGRES_URL'];
  let temporal: OwnServer;
  let postgres: OwnServer;
  let gateway: TestGateway;
  let worker: TestProcess;
  let receiver: Receiver;
  let owner: TestUser;
  const cleanup = createCleanup();

  before(async () => {
    temporal = await startOwnTemporal(NAMESPACE);
    cleanup.later(() => temporal.remove());
    postgres = await startOwnPostgres();
    cleanup.later(() => postgres.remove());
    process.env['TEST_POSTGRES_URL'] = postgres.address;
    cleanup.later(async () => {
      process.env['TEST_POSTGRES_URL'] = sharedServer;
    });
    gateway = await startGateway({
      worker: false,
      env: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: NAMESPACE },
    });
    cleanup.later(() => gateway.stop());
    receiver = await startReceiver((res, { path, seen }) => {
      res.writeHead(path === '/refuses-first' && seen === 1 ? 503 : 204).end();
    });
    cleanup.later(() => receiver.close());
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());
  beforeEach(async () => {
    if (worker.hasExited()) worker = await startWorkerProcess(gateway.env);
    owner = await gateway.createUser(1_000);
    receiver.received.splice(0);
  });

  const eventIds = async (): Promise<string[]> => {
    const rows = await gateway
      .em()
      .execute<{ id: string }[]>(`select id from webhook_event where user_id = '${owner.id}' order by id`);
    return rows.map(({ id }) => id);
  };
  const idsAt = (path: string): string[] => [...new Set(receiver.at(path).map(({ id }) => id))].sort();

  /** Waits until every event of the owner has come to this path, and expects no other. */
  const expectAll = async (path: string, count: number): Promise<void> => {
    await until('all have arrived', async () => idsAt(path).length >= count, ARRIVAL_LIMIT_MS);
    expect(idsAt(path))
      .to.deep.equal(await eventIds())
      .and.to.have.length(count);
  };

  it('a worker that is killed again and again loses none', async () => {
    const paths = ['/one', '/two'];
    // A task that was at its vendor when the worker died fails: it is not handed over twice.
    const events = ['task.completed', 'task.failed'];
    for (const path of paths) await makeWebhook(owner.session, { url: receiver.url + path, events });
    const tasks = [];
    for (let index = 0; index < 12; index += 1) tasks.push(await orderImage(owner.session));
    for (const arrived of [1, 8]) {
      await until('some have arrived', async () => receiver.received.length >= arrived, ARRIVAL_LIMIT_MS);
      await worker.kill();
      worker = await startWorkerProcess(gateway.env);
    }
    for (const { id } of tasks) await untilFinal(owner.session, id, ARRIVAL_LIMIT_MS);
    for (const path of paths) await expectAll(path, tasks.length);
  });

  it('an API that is killed once it has answered loses none', async () => {
    const { id } = await makeWebhook(owner.session, { url: `${receiver.url}/three` });
    const { process: api, baseUrl } = await startApiProcess(gateway.env);
    cleanup.later(() => api.kill());
    const caller = createActor(
      () => baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
    const ordered = await caller.post('/v1/images/generations', { model: IMAGE_MODEL, prompt: 'a pier' });
    expect(ordered.status).to.equal(202);
    for (let tests = 0; tests < 3; tests += 1)
      expect((await caller.post(`/v1/webhooks/${id}/test`)).status).to.equal(202);
    await api.kill();
    await until('the task has ended', async () => (await eventIds()).length === 4, ARRIVAL_LIMIT_MS);
    await expectAll('/three', 4);
  });

  it('a database that is killed while they are sent loses none', async () => {
    const { id } = await makeWebhook(owner.session, { url: `${receiver.url}/four` });
    for (let tests = 0; tests < 20; tests += 1) await owner.session.post(`/api/webhooks/${id}/test`);
    await receiver.until('/four', 1);
    await postgres.kill();
    await postgres.restart();
    await expectAll('/four', 20);
    expect(worker.hasExited(), 'the worker died').to.equal(false);
  });

  it('while Temporal is dead, first attempts are made; others follow when it is back', async () => {
    const quick = await makeWebhook(owner.session, { url: `${receiver.url}/five` });
    const slow = await makeWebhook(owner.session, { url: `${receiver.url}/refuses-first` });
    await temporal.kill();
    await owner.session.post(`/api/webhooks/${quick.id}/test`);
    await owner.session.post(`/api/webhooks/${slow.id}/test`);
    const [arrived] = await receiver.until('/five', 1);
    const [refused] = await receiver.until('/refuses-first', 1);
    await until('the run has been tried', async () => {
      const [row] = await gateway.em().execute<{ tried: boolean }[]>(
        `select attempts = 1 and relay_after > next_attempt_at as tried from webhook_delivery
           where endpoint_id = '${slow.id}'`,
      );
      return row?.tried;
    });
    await temporal.restart();
    const [, again] = await receiver.until('/refuses-first', 2, ARRIVAL_LIMIT_MS);
    expect(await eventIds()).to.have.members([arrived?.id, refused?.id]);
    expect(again?.id).to.equal(refused?.id);
  });
});
