// PostgreSQL is killed with tasks in flight and comes back: nothing is lost or charged twice, no process dies
// of it.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { createActor, type Actor } from '../support/http/http.ts';
import { startOwnPostgres, type OwnServer } from '../support/servers/own-servers.ts';
import { startApiProcess, startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import {
  expectOneChargeAndSubmission,
  IMAGE_MODEL,
  orderImage,
  orderVideo,
  untilPolled,
  untilSubmitted,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const RECOVERY_LIMIT_MS = 60_000;

describe('a database that is away', () => {
  const sharedServer = process.env['TEST_POSTGRES_URL'];
  let postgres: OwnServer;
  let gateway: TestGateway;
  let worker: TestProcess;
  let api: TestProcess;
  let internalUrl: string;
  let owner: TestUser;
  let caller: Actor;
  const cleanup = createCleanup();

  before(async () => {
    postgres = await startOwnPostgres();
    cleanup.later(() => postgres.remove());
    process.env['TEST_POSTGRES_URL'] = postgres.address;
    cleanup.later(async () => {
      process.env['TEST_POSTGRES_URL'] = sharedServer;
    });
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    const started = await startApiProcess(gateway.env);
    api = started.process;
    internalUrl = started.internalUrl;
    cleanup.later(() => api.kill());
    owner = await gateway.createUser(10_000);
    caller = createActor(
      () => started.baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  async function expectAllEnded(tasks: readonly OrderedTask[]): Promise<string[]> {
    const ends: string[] = [];
    for (const task of tasks) {
      await untilFinal(owner.session, task.id, RECOVERY_LIMIT_MS);
      const { status, errorCode } = await expectOneChargeAndSubmission(gateway, owner, task);
      ends.push(errorCode ?? status);
    }
    expect(worker.hasExited(), 'the worker died').to.equal(false);
    expect(api.hasExited(), 'the API died').to.equal(false);
    return ends;
  }

  it('refuses new work with 503 and takes it again afterwards', async () => {
    await postgres.kill();
    const body = { model: IMAGE_MODEL, prompt: 'a lighthouse [[sandbox seconds=0]]' };
    const startedAt = Date.now();
    const refused = await caller.post('/v1/images/generations', body);
    expect(Date.now() - startedAt).to.be.below(1_500); // 1 s, and room for a busy machine
    expect(refused.status).to.equal(503);
    expect(refused.body.error.code).to.equal('service_unavailable');
    expect(refused.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
    const ready = await fetch(`${internalUrl}/readyz`);
    expect(ready.status).to.equal(503);
    expect(await ready.json()).to.include({ status: 'unavailable', database: 'down' });
    expect((await fetch(`${internalUrl}/livez`)).status).to.equal(200);
    const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
    expect(metrics)
      .to.include('svc_database_up 0')
      .and.not.match(/^svc_tasks_unstarted \d/m);
    await postgres.restart();
    await until('it is ready', async () => (await fetch(`${internalUrl}/readyz`)).ok);
    await until('new work is taken', async () => {
      const { status } = await caller.post('/v1/images/generations', body);
      return status === 202;
    });
  });

  it('killed while tasks are handed over, waited for and copied: each of them completes, charged once', async () => {
    const tasks = [
      await orderVideo(owner.session, 'seconds=0 result=slow*1'), // its result arrives while the database is away
      await orderVideo(owner.session, 'seconds=1'),
      await orderVideo(owner.session, 'seconds=6'),
      await orderImage(owner.session, 'seconds=1.5'), // the vendor's answer comes while the database is away
      await orderImage(owner.session, 'seconds=6'),
    ];
    for (const task of tasks) await untilSubmitted(gateway, task);
    await untilPolled(gateway, tasks[1] ?? never());
    await postgres.kill();
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // as long as it is away
    await postgres.restart();
    expect(new Set(await expectAllEnded(tasks))).to.deep.equal(new Set(['completed']));
  });

  it('killed at random moments of many short tasks: every task ends, charged at most once', async () => {
    const tasks: OrderedTask[] = [];
    for (let round = 0; round < 3; round += 1) {
      const orders = Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? orderImage(owner.session, 'seconds=0.1') : orderVideo(owner.session),
      );
      tasks.push(...(await Promise.all(orders)));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400)); // the moment is the drill
      await postgres.kill();
      await postgres.restart();
    }
    for (const end of await expectAllEnded(tasks))
      expect(end).to.be.oneOf(['completed', 'upstream_outcome_unknown']);
  });
});

function never(): never {
  throw new Error('there is such a task');
}
