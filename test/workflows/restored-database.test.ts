// A database that was restored to an earlier moment knows less than Temporal: runs end, and retries start.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderImage, orderVideo, untilPolled, untilSubmitted } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';
import type { Em } from '../../db/database.ts';

describe('after the database was restored to an earlier moment', () => {
  const system = startTestSystem({ checksMoney: false });

  /** Changes rows as a restored snapshot would: past the triggers that guard them. */
  const rewrite = (change: (tx: Em) => Promise<unknown>): Promise<void> =>
    system.gateway.em().transactional(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`);
      await change(tx);
    });

  const forget = (taskId: string): Promise<void> =>
    rewrite(async (tx) => {
      for (const table of ['submission', 'task_event', 'task_request', 'task_attempt'])
        await tx.execute(`delete from ${table} where task_id = ?`, [taskId]);
      await tx.execute(sql`delete from task where id = ${taskId}`);
      await tx.execute(sql`update account set reserved = 0, running = 0 where user_id = ${system.owner.id}`);
    });

  it('the run of a task that it does not know ends as failed while the vendor works', async () => {
    const task = await orderVideo(system.owner.session, 'seconds=2');
    await untilPolled(system.gateway, task);
    await forget(task.id);
    expect(await system.engine.untilClosed(task.id)).to.equal('FAILED');
  });

  it('so does one whose work was being handed over', async () => {
    const task = await orderImage(system.owner.session, 'seconds=2');
    await untilSubmitted(system.gateway, task);
    await forget(task.id);
    expect(await system.engine.untilClosed(task.id)).to.equal('FAILED');
  });

  it('and one that is cancelled', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    await forget(task.id);
    await system.engine.handleOf(task.id).cancel();
    expect(await system.engine.untilClosed(task.id)).to.equal('CANCELLED');
  });

  it('a retry starts although the run before had completed', async () => {
    const task = await orderVideo(system.owner.session);
    await untilFinal(system.owner.session, task.id);
    expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
    await rewrite((tx) =>
      tx.execute(sql`
        update task set status = 'failed', error_code = 'internal_error', credits_charged = 0, outputs = '[]'
        where id = ${task.id}`),
    );
    expect((await system.owner.session.post(`/api/tasks/${task.id}/retry`)).status).to.equal(202);
    expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'completed', attempt: 2 });
    expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
  });

  it('no run can stay open for ever', async () => {
    const task = await orderVideo(system.owner.session);
    await system.gateway.services.taskStarts.underWay(task.id);
    const { raw } = await system.engine.handleOf(task.id).describe();
    const seconds = Number(raw.executionConfig?.workflowExecutionTimeout?.seconds ?? 0);
    expect(seconds).to.equal(system.gateway.config.taskDeadlineSeconds + 7 * 24 * 3600);
    await untilFinal(system.owner.session, task.id);
  });
});
