// The workflow of a task as operators see it, and that nothing they may do to it changes outcome or money.
import { expect } from 'chai';
import { findTask } from '../../db/tasks/tasks.ts';
import { SEARCH_ATTRIBUTES, workflowIdOf } from '../../workflows/names.ts';
import { freezeAccount } from '../support/accounts.ts';
import {
  countWorkflowTasks,
  openEngine,
  readHistory,
  sweepNow,
  type TestEngine,
} from '../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { countSubmissions } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  IMAGE_MODEL,
  orderImage,
  orderVideo,
  readAvailable,
  readEvents,
  readReservations,
  untilPolled,
  untilSubmitted,
  VIDEO_CREDITS,
  VIDEO_MODEL,
  type OrderedTask,
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

  const cancel = ({ id }: OrderedTask) => owner.session.delete(`/api/tasks/${id}`);
  const rowOf = async ({ id }: OrderedTask) => {
    const row = await findTask(gateway.em(), id);
    if (!row) throw new Error(`there is no task ${id}`);
    return row;
  };

  describe('in the eyes of an operator', () => {
    it('carries search attributes that follow the task from queued to its end', async () => {
      const task = await orderVideo(owner.session, 'outcome=stuck');
      await untilPolled(gateway, task);
      const attributes = async () => (await engine.handleOf(task.id).describe()).typedSearchAttributes;
      const running = await attributes();
      expect(running.get(SEARCH_ATTRIBUTES.taskStatus)).to.equal('in_progress');
      expect(running.get(SEARCH_ATTRIBUTES.mode)).to.equal('video');
      expect(running.get(SEARCH_ATTRIBUTES.model)).to.equal(VIDEO_MODEL);
      expect(running.get(SEARCH_ATTRIBUTES.provider)).to.equal('grok');
      expect(running.get(SEARCH_ATTRIBUTES.userId)).to.equal(owner.id);
      expect(running.get(SEARCH_ATTRIBUTES.attempt)).to.equal(1);
      await cancel(task);
      expect((await attributes()).get(SEARCH_ATTRIBUTES.taskStatus)).to.equal('cancelled');
    });

    it('can be found by them', async () => {
      const task = await orderImage(owner.session);
      await untilStatus(owner.session, task.id, 'completed');
      const query = `TaskStatus = 'completed' and UserId = '${owner.id}' and Model = '${IMAGE_MODEL}'`;
      await until('the completed task is listed', async () => {
        for await (const run of engine.client.workflow.list({ query }))
          if (run.workflowId === workflowIdOf(task.id)) return true;
        return false;
      });
    });

    it('ends Completed if and only if the task completed, else Failed or Canceled', async () => {
      const completed = await orderImage(owner.session);
      const refused = await orderImage(owner.session, 'seconds=0 submit=400');
      const failed = await orderVideo(owner.session, 'seconds=0 outcome=fail');
      const moderated = await orderVideo(owner.session, 'seconds=0 outcome=moderated');
      const cancelled = await orderVideo(owner.session, 'outcome=stuck');
      await cancel(cancelled);
      const endOf = async ({ id }: OrderedTask) => {
        const { status, errorCode } = await untilFinal(owner.session, id);
        return [status, errorCode, await engine.untilClosed(id)];
      };
      expect(await endOf(completed)).to.deep.equal(['completed', null, 'COMPLETED']);
      expect(await endOf(refused)).to.deep.equal(['failed', 'upstream_rejected', 'FAILED']);
      expect(await endOf(failed)).to.deep.equal(['failed', 'upstream_error', 'FAILED']);
      expect(await endOf(moderated)).to.deep.equal(['failed', 'content_rejected', 'FAILED']);
      expect(await endOf(cancelled)).to.deep.equal(['cancelled', 'task_cancelled', 'CANCELLED']);
    });

    it('keeps ids and small scalars in its history, and no word of the prompt', async () => {
      const task = await orderImage(owner.session);
      await untilStatus(owner.session, task.id, 'completed');
      await engine.untilClosed(task.id);
      const history = await readHistory(engine, task.id);
      const payloads = JSON.stringify(history).matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g);
      const texts = [...payloads].map(([, base64]) => Buffer.from(base64 ?? '', 'base64').toString());
      expect(texts.join('\n')).to.include(task.id).and.not.include(task.word);
    });
  });

  describe('when it is started or repeated more than once', () => {
    it('has one workflow id over all attempts; a retry is a new run with a new reservation', async () => {
      const task = await orderVideo(owner.session, 'seconds=0 outcome=fail*1');
      await untilStatus(owner.session, task.id, 'failed');
      const { status, body } = await owner.session.post(`/api/tasks/${task.id}/retry`);
      expect(status).to.equal(202);
      expect(body.data).to.include({ id: task.id, status: 'queued', attempt: 2, errorCode: null });
      expect(await untilFinal(owner.session, task.id)).to.include({
        status: 'completed',
        attempt: 2,
        creditsCharged: VIDEO_CREDITS,
      });
      await engine.untilClosed(task.id);
      const { typedSearchAttributes } = await engine.handleOf(task.id).describe();
      expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.attempt)).to.equal(2);
      await until('both runs are listed as they ended', async () => {
        const statuses = (await engine.runsOf(task.id)).map((run) => run.status).sort();
        return statuses.join() === 'COMPLETED,FAILED';
      });
      expect(await countSubmissions(gateway.sandboxUrl, task.word)).to.equal(2);
      expect(await readReservations(gateway, task.id)).to.deep.equal([
        { attempt: 1, state: 'released', charged: null },
        { attempt: 2, state: 'charged', charged: VIDEO_CREDITS },
      ]);
    });

    it('does nothing on a second start of the same attempt, while it runs and after it ended', async () => {
      const task = await orderVideo(owner.session, 'seconds=0 poll=500*1');
      const { taskWorkflows: starter } = gateway.services;
      const starts = Array.from({ length: 5 }, async () => starter.startTask(await rowOf(task)));
      expect(new Set(await Promise.all(starts))).to.deep.equal(new Set([true]));
      await untilStatus(owner.session, task.id, 'completed');
      await engine.untilClosed(task.id);
      expect(await starter.startTask(await rowOf(task))).to.equal(true);
      expect(await starter.startTaskWithin(await rowOf(task), 5_000)).to.equal(true);
      expect(await engine.runsOf(task.id)).to.have.length(1);
      await expectOneChargeAndSubmission(gateway, owner, task);
    });

    it('refuses a second run of a retry while the first is running', async () => {
      const task = await orderVideo(owner.session, 'seconds=0 outcome=fail*1 poll=500*3');
      await untilStatus(owner.session, task.id, 'failed', 20_000);
      await owner.session.post(`/api/tasks/${task.id}/retry`);
      expect(await gateway.services.taskWorkflows.startTask(await rowOf(task))).to.equal(false);
      await untilStatus(owner.session, task.id, 'completed');
      expect(await countSubmissions(gateway.sandboxUrl, task.word)).to.equal(2);
    }).timeout(40_000);
  });

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
      const task = await orderImage(owner.session, 'seconds=3');
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

  it('fails with its own code what was accepted without a worker and may not be reserved any more', async () => {
    await gateway.stopWorker();
    const poor = await gateway.createUser(VIDEO_CREDITS);
    const task = await orderVideo(poor.session);
    expect(await readAvailable(poor), 'the earmark counts as reserved').to.include({
      balance: VIDEO_CREDITS,
      reserved: VIDEO_CREDITS,
      available: 0,
    });
    await freezeAccount(gateway.em(), poor.id);
    await gateway.startWorker();
    const { status, errorCode } = await untilFinal(poor.session, task.id);
    expect({ status, errorCode }).to.deep.equal({ status: 'failed', errorCode: 'account_disabled' });
    expect(await engine.untilClosed(task.id)).to.equal('FAILED');
    expect(await readAvailable(poor)).to.include({ balance: VIDEO_CREDITS, reserved: 0 });
  });
});
