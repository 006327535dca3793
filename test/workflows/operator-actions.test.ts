// What operators do to a task's workflow, reset or terminate, changes neither its outcome nor its money.
import { expect } from 'chai';
import { countWorkflowTasks, readHistory, sweepNow } from '../support/servers/engine.ts';
import { findTask } from '../../db/tasks/tasks.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  readAvailable,
  readEvents,
  uniqueWord,
  untilPolled,
  untilSubmitted,
  VIDEO_CREDITS,
} from '../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../support/until.ts';

describe('the workflow of a task', () => {
  const system = startTestSystem();

  describe('when an operator resets it', () => {
    it('changes nothing about a completed task, from whichever step', async () => {
      const task = await orderVideo(system.owner.session);
      await untilStatus(system.owner.session, task.id, 'completed');
      await system.engine.untilClosed(task.id);
      const { runId } = await system.engine.handleOf(task.id).describe();
      const steps = countWorkflowTasks(await readHistory(system.engine, task.id));
      const before = await readAvailable(system.owner);
      for (let step = 0; step < steps; step += 1) {
        await system.engine.reset(task.id, step, runId);
        expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
      }
      await expectOneChargeAndSubmission(system.gateway, system.owner, task);
      expect(await readAvailable(system.owner)).to.deep.equal(before);
    });

    it('changes nothing about a failed task, which stays retryable', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=0 outcome=fail*1');
      await untilStatus(system.owner.session, task.id, 'failed');
      await system.engine.untilClosed(task.id);
      const { runId } = await system.engine.handleOf(task.id).describe();
      const steps = countWorkflowTasks(await readHistory(system.engine, task.id));
      for (let step = 0; step < steps; step += 1) {
        await system.engine.reset(task.id, step, runId);
        expect(await system.engine.untilClosed(task.id)).to.equal('FAILED');
      }
      const { status, errorCode } = await expectOneChargeAndSubmission(system.gateway, system.owner, task);
      expect([status, errorCode]).to.deep.equal(['failed', 'upstream_error']);
      expect((await system.owner.session.post(`/api/tasks/${task.id}/retry`)).status).to.equal(202);
      await untilStatus(system.owner.session, task.id, 'completed');
    });

    it('lets a running task go on, without a second submission', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=2');
      await untilPolled(system.gateway, task);
      await system.engine.reset(task.id, 0);
      await untilStatus(system.owner.session, task.id, 'completed');
      expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
      await expectOneChargeAndSubmission(system.gateway, system.owner, task);
    });

    it('waits for a call to the vendor that is under way, and does not make it again', async () => {
      const task = await orderImage(system.owner.session, 'seconds=2');
      await untilSubmitted(system.gateway, task);
      await system.engine.reset(task.id, 0);
      await untilFinal(system.owner.session, task.id);
      const { status } = await expectOneChargeAndSubmission(system.gateway, system.owner, task);
      expect(await system.engine.untilClosed(task.id)).to.equal(status.toUpperCase());
    });

    it('makes a call again that, while it was waited for, turned out not to have arrived', async () => {
      const task = await orderImage(system.owner.session, 'seconds=10');
      await untilSubmitted(system.gateway, task);
      await system.engine.reset(task.id, 0);
      await until('the new run waits for the call', async () => {
        const { raw } = await system.engine.handleOf(task.id).describe();
        const [phase] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
        return String(phase?.data && Buffer.from(phase.data)).includes('earlier try');
      });
      await system.gateway.em().execute(`
        update submission set state = 'not_received' where task_id = '${task.id}' and state = 'sending'`);
      expect(await untilFinal(system.owner.session, task.id)).to.include({
        status: 'completed',
        errorCode: null,
      });
    });
  });

  describe('when an operator terminates it', () => {
    it('is settled as failed by the sweeper, and the credits return', async () => {
      const task = await orderVideo(system.owner.session, 'outcome=stuck');
      await untilPolled(system.gateway, task);
      await system.engine.handleOf(task.id).terminate('a drill');
      expect(await readAvailable(system.owner)).to.include({ reserved: VIDEO_CREDITS });
      expect(await sweepNow(system.gateway)).to.include({ settled: 1 });
      const ended = await untilStatus(system.owner.session, task.id, 'failed');
      expect(ended).to.include({ errorCode: 'internal_error', creditsCharged: 0 });
      expect(await readAvailable(system.owner)).to.include({ balance: 1_000, reserved: 0 });
      expect(await sweepNow(system.gateway)).to.deep.equal({ started: 0, settled: 0 });
    });

    it('its job is stopped at a vendor that can, and logged with its id', async () => {
      const order = { mode: 'video', model: 'gemini-omni-1.1-flash', duration: 3 };
      const word = uniqueWord();
      const prompt = `${word} [[sandbox outcome=stuck]]`;
      const { body } = await system.owner.session.post('/api/tasks', { ...order, prompt });
      const task = { id: body.data.id, word };
      await untilPolled(system.gateway, task);
      await system.engine.handleOf(task.id).terminate('a drill');
      await sweepNow(system.gateway);
      const asked = (await readJournal(system.gateway.sandboxUrl, word)).map(({ operation }) => operation);
      expect(asked).to.include('cancel');
      const { upstreamTaskId } = (await findTask(system.gateway.em(), task.id)) ?? {};
      const lines = system.gateway.logged().split('\n');
      const line = lines.find((each) => each.includes(task.id) && each.includes('no task waits for'));
      const job = { taskId: task.id, attempt: 1, family: 'gemini', jobId: upstreamTaskId };
      expect(JSON.parse(line ?? '{}')).to.include({ ...job, isStopped: true });
    });

    it('is settled as failed by the sweeper when it had not even begun', async () => {
      await system.gateway.stopWorker();
      const task = await orderVideo(system.owner.session);
      await system.gateway.services.taskStarts.underWay(task.id);
      await system.engine.handleOf(task.id).terminate('a drill');
      await sweepNow(system.gateway);
      await system.gateway.startWorker();
      const ended = await untilStatus(system.owner.session, task.id, 'failed');
      expect(ended).to.include({ errorCode: 'internal_error', creditsCharged: 0 });
    });

    it('can be retried afterwards', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=0 poll=500*2');
      await untilPolled(system.gateway, task);
      await system.engine.handleOf(task.id).terminate('a drill');
      await sweepNow(system.gateway);
      expect((await system.owner.session.post(`/api/tasks/${task.id}/retry`)).status).to.equal(202);
      expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'completed', attempt: 2 });
      expect(await readEvents(system.owner.session, task.id)).to.include('retried');
    });
  });
});
