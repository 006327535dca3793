// What reconcile counts as mended, when Temporal does not answer or things change while it looks.
import { Readable } from 'node:stream';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { reconcile, type Mismatch, type Reconciliation } from '../../activities/reconcile.ts';
import { describe as describeForOperators } from '../../cli/reconcile-command.ts';
import { requestCancel } from '../../db/tasks/tasks.ts';
import { makeId } from '../../db/ids.ts';
import type { TaskRuns } from '../../domain/task-runs.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { ageOpenTasks } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderImage, orderVideo, untilPolled, type OrderedTask } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

describe('reconcile, asked to mend', () => {
  const system = startTestSystem();

  /** Mends while Temporal is as `changes` play it. */
  async function mend(changes: Partial<TaskRuns>): Promise<Reconciliation> {
    await ageOpenTasks(system.gateway);
    const dependencies = dependenciesOf(system.gateway.config, system.gateway.services);
    return reconcile({ ...dependencies, taskRuns: { ...dependencies.taskRuns, ...changes } }, true);
  }

  function lineOf(reconciliation: Reconciliation, mismatch: Mismatch): string {
    const { text } = describeForOperators(reconciliation, true);
    return text.split('\n')[Object.keys(reconciliation).indexOf(mismatch)]?.trim() ?? '';
  }

  async function startPolled(): Promise<OrderedTask> {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    return task;
  }

  it('says of a cancellation that its run has ended, or that Temporal is away, and counts neither as mended', async () => {
    const task = await startPolled();
    await requestCancel(system.gateway.em(), system.owner.id, task.id);
    const away = await mend({ cancelTask: () => Promise.resolve('unreachable') });
    expect(away.unheardCancellations).to.deep.equal({ found: 1, mended: 0, left: { unreachable: 1 } });
    expect(lineOf(away, 'unheardCancellations')).to.equal(
      '1 cancellations that did not arrive: 0 repeated, 1 not: Temporal did not answer',
    );
    const ended = await mend({ cancelTask: () => Promise.resolve('closed') });
    expect(ended.unheardCancellations).to.deep.equal({ found: 1, mended: 0, left: { changed: 1 } });
    expect(describeForOperators(ended, true).remaining).to.equal(1);
    const heard = await mend({});
    expect(heard.unheardCancellations).to.deep.equal({ found: 1, mended: 1, left: {} });
    expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'cancelled' });
  });

  it('counts a run without a task that ended meanwhile as not cancelled', async () => {
    const listRunning = () => Promise.resolve([makeId('task')]);
    const { runsWithoutTask } = await mend({ listRunning });
    expect(runsWithoutTask).to.deep.equal({ found: 1, mended: 0, left: { changed: 1 } });
  });

  it('says of a task without a run that the run before is still closing', async () => {
    const task = await startPolled();
    const told = await mend({
      describeTask: () => Promise.resolve('unknown'),
      startTask: () => Promise.resolve(false),
    });
    expect(lineOf(told, 'tasksWithoutRun')).to.equal(
      '1 tasks without a run: 0 started, 1 not: the run before is still closing',
    );
    expect((await system.owner.session.delete(`/api/tasks/${task.id}`)).status).to.equal(200);
  });

  it('counts a cancellation before anything was reserved only if it ended the task', async () => {
    await system.gateway.stopWorker();
    const task = await orderVideo(system.owner.session);
    await requestCancel(system.gateway.em(), system.owner.id, task.id);
    const { unheardCancellations } = await mend({});
    expect(unheardCancellations).to.deep.equal({ found: 1, mended: 1, left: {} });
    await system.gateway.startWorker();
    expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'cancelled' });
  });

  it('counts a task as failed only if it was not completed meanwhile', async () => {
    const task = await orderVideo(system.owner.session, 'seconds=1');
    await untilPolled(system.gateway, task);
    const describeTask: TaskRuns['describeTask'] = async () => {
      await untilFinal(system.owner.session, task.id);
      return 'closed';
    };
    const { tasksOfEndedRuns } = await mend({ describeTask });
    expect(tasksOfEndedRuns).to.deep.equal({ found: 1, mended: 0, left: { changed: 1 } });
  });

  it('removes what a process that died had stored for a task, once that has ended for an hour', async () => {
    const { storage } = system.gateway.services;
    const [old, young] = [await orderImage(system.owner.session), await orderImage(system.owner.session)];
    const [left, recent] = [old, young].map(({ id }) => `results/${id}/1/9.png`);
    if (!left || !recent) throw new Error('a file is missing');
    for (const { id } of [old, young]) await untilFinal(system.owner.session, id);
    for (const key of [left, recent])
      await storage.write(key, Readable.from(['x']), { contentType: 'image/png' });
    await system.gateway.em().execute(sql`
      update task set completed_at = now() - interval '2 hours' where id = ${old.id}`);
    expect((await mend({})).filesWithoutTask).to.deep.equal({ found: 1, mended: 1, left: {} });
    expect([await storage.size(left), await storage.size(recent)]).to.deep.equal([null, 1]);
    const { outputUrl, outputs } = (await system.owner.session.get(`/api/tasks/${old.id}`)).body.data;
    for (const url of [outputUrl, outputs[0].previewUrl]) expect((await fetch(url)).status).to.equal(200);
  });
});
