// Temporal hangs, and dies, with tasks in flight: callers are still served, and everything ends once it is
// back.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startOwnTemporal, type OwnServer } from '../support/servers/own-servers.ts';
import { startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  untilPolled,
  untilSubmitted,
  type OrderedTask,
} from '../support/tasks.ts';
import { usualTimeOf } from '../support/timing.ts';
import { untilFinal } from '../support/until.ts';

const NAMESPACE = 'drill';
const AWAY_MS = 10_000;
const RECOVERY_LIMIT_MS = 60_000;

describe('an engine that is away', () => {
  let temporal: OwnServer;
  let gateway: TestGateway;
  let worker: TestProcess;
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
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    owner = await gateway.createUser(1_000);
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  async function expectAllCompleted(tasks: readonly OrderedTask[]): Promise<void> {
    for (const task of tasks) {
      await untilFinal(owner.session, task.id, RECOVERY_LIMIT_MS);
      const { status } = await expectOneChargeAndSubmission(gateway, owner, task);
      expect(status).to.equal('completed');
    }
    expect(worker.hasExited()).to.equal(false);
  }

  async function within<Result>(limitMs: number, call: () => Promise<Result>): Promise<Result> {
    const startedAt = Date.now();
    const result = await call();
    expect(Date.now() - startedAt).to.be.below(limitMs);
    return result;
  }

  it('hanging for ten seconds: creation answers 202, reads and the cancellation of what has not begun work', async () => {
    const running = [
      await orderVideo(owner.session, 'seconds=4'),
      await orderImage(owner.session, 'seconds=4'),
      await orderVideo(owner.session, 'seconds=1'),
    ];
    for (const task of running) await untilSubmitted(gateway, task);
    temporal.suspend();
    const resumeAt = Date.now() + AWAY_MS;
    try {
      const created = await Promise.all([
        within(2_000, () => orderImage(owner.session)),
        within(2_000, () => orderVideo(owner.session)),
      ]);
      const unwanted = await within(2_000, () => orderVideo(owner.session));
      expect((await owner.session.get('/api/tasks')).body.data).to.have.length(6);
      expect((await owner.session.get('/api/balance')).status).to.equal(200);
      for (const path of ['/api/tasks', '/api/balance'])
        expect(await usualTimeOf(() => owner.session.get(path)), path).to.be.below(500);
      const { status, body } = await within(2_000, () => owner.session.delete(`/api/tasks/${unwanted.id}`));
      expect(status).to.equal(200);
      expect(body.data).to.include({ status: 'cancelled', creditsCharged: 0 });
      const unheard = await within(4_500, () => owner.session.delete(`/api/tasks/${running[0]?.id}`));
      expect([200, 202, 409]).to.include(unheard.status);

      await new Promise((resolve) => setTimeout(resolve, Math.max(0, resumeAt - Date.now()))); // the drill itself
      temporal.resume();
      await expectAllCompleted([...created, ...running.slice(1)]);
      const asked = await untilFinal(owner.session, running[0]?.id ?? '', RECOVERY_LIMIT_MS);
      expect(asked.status).to.be.oneOf(['completed', 'cancelled']);
      expect(await readJournal(gateway.sandboxUrl, unwanted.word)).to.deep.equal([]);
    } finally {
      temporal.resume();
    }
  });

  it('killed and started again on the same files: tasks in flight end, with one charge and one submission', async () => {
    const tasks = [
      await orderVideo(owner.session, 'seconds=3'),
      await orderVideo(owner.session, 'seconds=8'),
      await orderImage(owner.session, 'seconds=6'),
    ];
    for (const task of tasks.slice(0, 2)) await untilPolled(gateway, task);
    for (const task of tasks) await untilSubmitted(gateway, task);
    await temporal.kill();
    const created = await within(2_000, () => orderImage(owner.session));
    await temporal.restart();
    await expectAllCompleted([...tasks, created]);
  });
});
