// Workers and Temporal die between a cause and its delivery: every event arrives, each time with its
// own id, at every endpoint that existed.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startOwnTemporal, type OwnServer } from '../support/servers/own-servers.ts';
import { startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { orderImage } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';
import { makeWebhook, startReceiver, type Receiver } from '../support/webhooks.ts';

const NAMESPACE = 'webhooks';
const ARRIVAL_LIMIT_MS = 90_000;

describe('webhooks while processes die', function () {
  this.timeout(150_000);
  let temporal: OwnServer;
  let gateway: TestGateway;
  let worker: TestProcess;
  let receiver: Receiver;
  let owner: TestUser;
  const cleanup = createCleanup();

  before(async () => {
    temporal = await startOwnTemporal(NAMESPACE);
    cleanup.later(() => temporal.remove());
    gateway = await startGateway({
      worker: false,
      env: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: NAMESPACE },
    });
    cleanup.later(() => gateway.stop());
    receiver = await startReceiver();
    cleanup.later(() => receiver.close());
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());
  beforeEach(async () => {
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
    for (const path of paths) await makeWebhook(owner.session, { url: receiver.url + path });
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

  it('a Temporal that is killed between claim and start loses none', async () => {
    const { id } = await makeWebhook(owner.session, { url: `${receiver.url}/three` });
    await temporal.kill();
    for (let tests = 0; tests < 5; tests += 1) await owner.session.post(`/api/webhooks/${id}/test`);
    await until('the relay has claimed them', async () => {
      const [row] = await gateway
        .em()
        .execute<{ claimed: string }[]>(
          `select count(*) as claimed from webhook_delivery where endpoint_id = '${id}' and relay_after > now()`,
        );
      return row?.claimed === '5';
    });
    await temporal.restart();
    await expectAll('/three', 5);
  });
});
