// The workflow of a task: what operators see of it, and that one attempt has one run.
import { expect } from 'chai';
import { findTask } from '../../db/tasks/tasks.ts';
import { SEARCH_ATTRIBUTES, workflowIdOf } from '../../workflows/names.ts';
import { freezeAccount } from '../support/accounts.ts';
import { readHistory } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { countSubmissions } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  IMAGE_MODEL,
  orderImage,
  orderVideo,
  readAvailable,
  readReservations,
  untilPolled,
  VIDEO_CREDITS,
  VIDEO_MODEL,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../support/until.ts';

describe('the workflow of a task', () => {
  const system = startTestSystem();

  const cancel = ({ id }: OrderedTask) => system.owner.session.delete(`/api/tasks/${id}`);
  const rowOf = async ({ id }: OrderedTask) => {
    const row = await findTask(system.gateway.em(), id);
    if (!row) throw new Error(`there is no task ${id}`);
    return row;
  };

  describe('in the eyes of an operator', () => {
    it('carries search attributes that follow the task from queued to its end', async () => {
      const task = await orderVideo(system.owner.session, 'outcome=stuck');
      await untilPolled(system.gateway, task);
      const attributes = async () => (await system.engine.handleOf(task.id).describe()).typedSearchAttributes;
      const running = await attributes();
      expect(running.get(SEARCH_ATTRIBUTES.taskStatus)).to.equal('in_progress');
      expect(running.get(SEARCH_ATTRIBUTES.mode)).to.equal('video');
      expect(running.get(SEARCH_ATTRIBUTES.model)).to.equal(VIDEO_MODEL);
      expect(running.get(SEARCH_ATTRIBUTES.provider)).to.equal('grok');
      expect(running.get(SEARCH_ATTRIBUTES.userId)).to.equal(system.owner.id);
      expect(running.get(SEARCH_ATTRIBUTES.attempt)).to.equal(1);
      await cancel(task);
      expect((await attributes()).get(SEARCH_ATTRIBUTES.taskStatus)).to.equal('cancelled');
    });

    it('can be found by them', async () => {
      const task = await orderImage(system.owner.session);
      await untilStatus(system.owner.session, task.id, 'completed');
      const query = `TaskStatus = 'completed' and UserId = '${system.owner.id}' and Model = '${IMAGE_MODEL}'`;
      await until('the completed task is listed', async () => {
        for await (const run of system.engine.client.workflow.list({ query }))
          if (run.workflowId === workflowIdOf(task.id)) return true;
        return false;
      });
    });

    it('ends Completed if and only if the task completed, else Failed or Canceled', async () => {
      const completed = await orderImage(system.owner.session);
      const refused = await orderImage(system.owner.session, 'seconds=0 submit=400');
      const failed = await orderVideo(system.owner.session, 'seconds=0 outcome=fail');
      const moderated = await orderVideo(system.owner.session, 'seconds=0 outcome=moderated');
      const cancelled = await orderVideo(system.owner.session, 'outcome=stuck');
      await cancel(cancelled);
      const endOf = async ({ id }: OrderedTask) => {
        const { status, errorCode } = await untilFinal(system.owner.session, id);
        return [status, errorCode, await system.engine.untilClosed(id)];
      };
      expect(await endOf(completed)).to.deep.equal(['completed', null, 'COMPLETED']);
      expect(await endOf(refused)).to.deep.equal(['failed', 'upstream_rejected', 'FAILED']);
      expect(await endOf(failed)).to.deep.equal(['failed', 'upstream_error', 'FAILED']);
      expect(await endOf(moderated)).to.deep.equal(['failed', 'content_rejected', 'FAILED']);
      expect(await endOf(cancelled)).to.deep.equal(['cancelled', 'task_cancelled', 'CANCELLED']);
    });

    it('keeps ids and small scalars in its history, and no word of the prompt', async () => {
      const task = await orderImage(system.owner.session);
      await untilStatus(system.owner.session, task.id, 'completed');
      await system.engine.untilClosed(task.id);
      const history = await readHistory(system.engine, task.id);
      const payloads = JSON.stringify(history).matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g);
      const texts = [...payloads].map(([, base64]) => Buffer.from(base64 ?? '', 'base64').toString());
      expect(texts.join('\n')).to.include(task.id).and.not.include(task.word);
    });
  });

  describe('when it is started or repeated more than once', () => {
    it('has one workflow id over all attempts; a retry is a new run with a new reservation', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=0 outcome=fail*1');
      await untilStatus(system.owner.session, task.id, 'failed');
      const { status, body } = await system.owner.session.post(`/api/tasks/${task.id}/retry`);
      expect(status).to.equal(202);
      expect(body.data).to.include({ id: task.id, status: 'queued', attempt: 2, errorCode: null });
      expect(await untilFinal(system.owner.session, task.id)).to.include({
        status: 'completed',
        attempt: 2,
        creditsCharged: VIDEO_CREDITS,
      });
      await system.engine.untilClosed(task.id);
      const { typedSearchAttributes } = await system.engine.handleOf(task.id).describe();
      expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.attempt)).to.equal(2);
      await until('both runs are listed as they ended', async () => {
        const statuses = (await system.engine.runsOf(task.id)).map((run) => run.status).sort();
        return statuses.join() === 'COMPLETED,FAILED';
      });
      expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(2);
      expect(await readReservations(system.gateway, task.id)).to.deep.equal([
        { attempt: 1, state: 'released', charged: null },
        { attempt: 2, state: 'charged', charged: VIDEO_CREDITS },
      ]);
    });

    it('does nothing on a second start of the same attempt, while it runs and after it ended', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=0 poll=500*1');
      const { taskWorkflows: starter } = system.gateway.services;
      const starts = Array.from({ length: 5 }, async () => starter.startTask(await rowOf(task)));
      expect(new Set(await Promise.all(starts))).to.deep.equal(new Set([true]));
      await untilStatus(system.owner.session, task.id, 'completed');
      await system.engine.untilClosed(task.id);
      expect(await starter.startTask(await rowOf(task))).to.equal(true);
      expect(await starter.startTaskWithin(await rowOf(task), 5_000)).to.equal(true);
      expect(await system.engine.runsOf(task.id)).to.have.length(1);
      await expectOneChargeAndSubmission(system.gateway, system.owner, task);
    });

    it('refuses a second run of a retry while the first is running', async () => {
      const task = await orderVideo(system.owner.session, 'seconds=0 outcome=fail*1 poll=500*3');
      await untilStatus(system.owner.session, task.id, 'failed');
      await system.owner.session.post(`/api/tasks/${task.id}/retry`);
      await system.gateway.services.taskStarts.underWay(task.id);
      expect(await system.gateway.services.taskWorkflows.startTask(await rowOf(task))).to.equal(false);
      await untilStatus(system.owner.session, task.id, 'completed');
      expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(2);
    });
  });

  it('fails with its own code what was accepted without a worker and may not be reserved any more', async () => {
    await system.gateway.stopWorker();
    const poor = await system.gateway.createUser(VIDEO_CREDITS);
    const task = await orderVideo(poor.session);
    expect(await readAvailable(poor), 'the earmark counts as reserved').to.include({
      balance: VIDEO_CREDITS,
      reserved: VIDEO_CREDITS,
      available: 0,
    });
    await freezeAccount(system.gateway.em(), poor.id);
    await system.gateway.startWorker();
    const { status, errorCode } = await untilFinal(poor.session, task.id);
    expect({ status, errorCode }).to.deep.equal({ status: 'failed', errorCode: 'account_disabled' });
    expect(await system.engine.untilClosed(task.id)).to.equal('FAILED');
    expect(await readAvailable(poor)).to.include({ balance: VIDEO_CREDITS, reserved: 0 });
  });
});
