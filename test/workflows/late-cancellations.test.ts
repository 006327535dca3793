// A cancellation that arrives when its attempt has failed and the task was retried: the retry goes on.
import { expect } from 'chai';
import { createActivities } from '../../activities/index.ts';
import { meetNeed } from '../../activities/open-tasks.ts';
import { failTask } from '../../db/tasks/settlement.ts';
import { findTask, requestCancel } from '../../db/tasks/tasks.ts';
import type { TaskRuns } from '../../domain/task-runs.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { ageOpenTasks, cancelAfter, readHistory } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderVideo, readAvailable, readEvents, untilPolled, type OrderedTask } from '../support/tasks.ts';
import { until } from '../support/until.ts';

const FAILURE = { code: 'upstream_error', message: 'The provider failed.' } as const;

describe('a cancellation whose attempt has failed and was retried meanwhile', () => {
  const system = startTestSystem();

  it('repeated by the sweeper, does not reach the run of the retry', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    await requestCancel(system.gateway.em(), system.owner.id, task.id); // and Temporal does not hear of it
    await ageOpenTasks(system.gateway);
    const dependencies = dependenciesOf(system.gateway.config, system.gateway.services);
    const taskRuns = retryBeforeCancels(dependencies.taskRuns, task);
    await createActivities({ ...dependencies, taskRuns }).sweepTasks();
    await expectRetryRuns(task);
    expect(await sweepCancelled(task)).to.equal('CANCELLED');
  });

  it('of a caller, does not reach the run of the retry, and is answered 409', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    const { services } = system.gateway;
    const { taskWorkflows } = services;
    services.taskWorkflows = { ...taskWorkflows, ...retryBeforeCancels(taskWorkflows, task) };
    const { status, body } = await system.owner.session.delete(`/api/tasks/${task.id}`);
    services.taskWorkflows = taskWorkflows;
    expect(status).to.equal(409);
    expect(body.error.code).to.equal('task_not_cancellable');
    await expectRetryRuns(task);
    expect((await system.owner.session.delete(`/api/tasks/${task.id}`)).status).to.equal(200);
  });

  it('on its way when the retry begins, does not reach the run of the retry', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    const state = await cancelAfter(system.gateway, task.id, () => failAndRetry(task.id));
    expect(state).to.equal('closed');
    await expectRetryRuns(task);
    expect((await system.owner.session.delete(`/api/tasks/${task.id}`)).status).to.equal(200);
  });

  it('repeated by the sweeper before anything was reserved, leaves the retry in the queue', async () => {
    await system.gateway.stopWorker();
    const { id } = await orderVideo(system.owner.session);
    await requestCancel(system.gateway.em(), system.owner.id, id);
    const asked = await findTask(system.gateway.em(), id);
    if (!asked) throw new Error('the task is gone');
    await failTask(system.gateway.em(), { taskId: id, attempt: 1 }, FAILURE);
    expect((await system.owner.session.post(`/api/tasks/${id}/retry`)).status).to.equal(202);
    await meetNeed(dependenciesOf(system.gateway.config, system.gateway.services), asked, 'cancellation');
    expect(await findTask(system.gateway.em(), id)).to.include({ status: 'queued', attempt: 2 });
    expect((await system.owner.session.delete(`/api/tasks/${id}`)).status).to.equal(200);
    expect(await readAvailable(system.owner)).to.include({ balance: 1_000, reserved: 0 });
    await system.gateway.startWorker();
  });

  /** Has the attempt fail and its owner retry it, once, before the first cancellation reaches Temporal. */
  function retryBeforeCancels<Runs extends TaskRuns>(runs: Runs, { id }: OrderedTask): Runs {
    let isRetried = false;
    const cancelTask: TaskRuns['cancelTask'] = async (...cancellation) => {
      if (!isRetried) await failAndRetry(id);
      isRetried = true;
      return runs.cancelTask(...cancellation);
    };
    return { ...runs, cancelTask };
  }

  async function failAndRetry(id: string): Promise<void> {
    await system.engine.handleOf(id).terminate('a drill');
    await failTask(system.gateway.em(), { taskId: id, attempt: 1 }, FAILURE);
    expect((await system.owner.session.post(`/api/tasks/${id}/retry`)).status).to.equal(202);
    await until('the retry was handed over', async () => {
      const events = await readEvents(system.owner.session, id);
      return events.filter((event) => event === 'submitted').length === 2;
    });
  }

  async function expectRetryRuns({ id }: OrderedTask): Promise<void> {
    const { events } = await readHistory(system.engine, id);
    expect(events.map(({ eventType }) => eventType)).to.not.include(
      'EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED',
    );
    expect(await system.engine.statusOf(id)).to.equal('RUNNING');
  }

  /** Has the sweeper repeat a cancellation of the attempt that runs. Answers how the run ends. */
  async function sweepCancelled({ id }: OrderedTask): Promise<string> {
    await requestCancel(system.gateway.em(), system.owner.id, id);
    await ageOpenTasks(system.gateway);
    await createActivities(dependenciesOf(system.gateway.config, system.gateway.services)).sweepTasks();
    return system.engine.untilClosed(id);
  }
});
