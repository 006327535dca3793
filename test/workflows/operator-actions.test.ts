// What operators do to a task's workflow, reset or terminate, changes neither its outcome nor its money.
import { expect } from 'chai';
import {
  countWorkflowTasks,
  openEngine,
  readHistory,
  sweepNow,
  type TestEngine,
} from '../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  readAvailable,
  readEvents,
  untilPolled,
  untilSubmitted,
  VIDEO_CREDITS,
} from '../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../support/until.ts';

describe('the workflow of a task', () => {
  let gateway: TestGateway;
  let engine: TestEngine;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    engine = await openEngine(gateway);
  });
  after(async () => {
    await engine.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
  });
  afterEach(() => gateway.expectSoundMoney());

  describe('when an operator resets it', () => {
    it('changes nothing about a completed task, from whichever step', async () => {
      const task = await orderVideo(owner.session);
      await untilStatus(owner.session, task.id, 'completed');
      await engine.untilClosed(task.id);
      const { runId } = await engine.handleOf(task.id).describe();
      const steps = countWorkflowTasks(await readHistory(engine, task.id));
      const before = await readAvailable(owner);
      for (let step = 0; step < steps; step += 1) {
        await engine.reset(task.id, step, runId);
        expect(await engine.untilClosed(task.id)).to.equal('COMPLETED');
      }
      await expectOneChargeAndSubmission(gateway, owner, task);
      expect(await readAvailable(owner)).to.deep.equal(before);
    });

    it('changes nothing about a failed task, which stays retryable', async () => {
      const task = await orderVideo(owner.session, 'seconds=0 outcome=fail*1');
      await untilStatus(owner.session, task.id, 'failed');
      await engine.untilClosed(task.id);
      const { runId } = await engine.handleOf(task.id).describe();
      const steps = countWorkflowTasks(await readHistory(engine, task.id));
      for (let step = 0; step < steps; step += 1) {
        await engine.reset(task.id, step, runId);
        expect(await engine.untilClosed(task.id)).to.equal('FAILED');
      }
      const { status, errorCode } = await expectOneChargeAndSubmission(gateway, owner, task);
      expect([status, errorCode]).to.deep.equal(['failed', 'upstream_error']);
      expect((await owner.session.post(`/api/tasks/${task.id}/retry`)).status).to.equal(202);
      await untilStatus(owner.session, task.id, 'completed');
    });

    it('lets a running task go on, without a second submission', async () => {
      const task = await orderVideo(owner.session, 'seconds=2');
      await untilPolled(gateway, task);
      await engine.reset(task.id, 0);
      await untilStatus(owner.session, task.id, 'completed');
      expect(await engine.untilClosed(task.id)).to.equal('COMPLETED');
      await expectOneChargeAndSubmission(gateway, owner, task);
    });

    it('waits for a call to the vendor that is under way, and does not make it again', async () => {
      const task = await orderImage(owner.session, 'seconds=2');
      await untilSubmitted(gateway, task);
      await engine.reset(task.id, 0);
      await untilFinal(owner.session, task.id);
      const { status } = await expectOneChargeAndSubmission(gateway, owner, task);
      expect(await engine.untilClosed(task.id)).to.equal(status.toUpperCase());
    });

    it('makes a call again that, while it was waited for, turned out not to have arrived', async () => {
      const task = await orderImage(owner.session, 'seconds=10');
      await untilSubmitted(gateway, task);
      await engine.reset(task.id, 0);
      await until('the new run waits for the call', async () => {
        const { raw } = await engine.handleOf(task.id).describe();
        const [phase] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
        return String(phase?.data && Buffer.from(phase.data)).includes('earlier try');
      });
      await gateway.em().execute(`
        update submission set state = 'not_received' where task_id = '${task.id}' and state = 'sending'`);
      expect(await untilFinal(owner.session, task.id)).to.include({ status: 'completed', errorCode: null });
    });
  });

  describe('when an operator terminates it', () => {
    it('is settled as failed by the sweeper, and the credits return', async () => {
      const task = await orderVideo(owner.session, 'outcome=stuck');
      await untilPolled(gateway, task);
      await engine.handleOf(task.id).terminate('a drill');
      expect(await readAvailable(owner)).to.include({ reserved: VIDEO_CREDITS });
      expect(await sweepNow(gateway)).to.include({ settled: 1 });
      const ended = await untilStatus(owner.session, task.id, 'failed');
      expect(ended).to.include({ errorCode: 'internal_error', creditsCharged: 0 });
      expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
      expect(await sweepNow(gateway)).to.deep.equal({ started: 0, settled: 0 });
    });

    it('is settled as failed by the sweeper when it had not even begun', async () => {
      await gateway.stopWorker();
      const task = await orderVideo(owner.session);
      await gateway.services.taskStarts.drain(10_000);
      await engine.handleOf(task.id).terminate('a drill');
      await sweepNow(gateway);
      await gateway.startWorker();
      const ended = await untilStatus(owner.session, task.id, 'failed');
      expect(ended).to.include({ errorCode: 'internal_error', creditsCharged: 0 });
    });

    it('can be retried afterwards', async () => {
      const task = await orderVideo(owner.session, 'seconds=0 poll=500*2');
      await untilPolled(gateway, task);
      await engine.handleOf(task.id).terminate('a drill');
      await sweepNow(gateway);
      expect((await owner.session.post(`/api/tasks/${task.id}/retry`)).status).to.equal(202);
      expect(await untilFinal(owner.session, task.id)).to.include({ status: 'completed', attempt: 2 });
      expect(await readEvents(owner.session, task.id)).to.include('retried');
    });
  });
});
