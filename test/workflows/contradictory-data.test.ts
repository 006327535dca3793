// A task whose figures contradict each other: its run gives its place in the worker back between the tries.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { readHistory } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { IMAGE_CREDITS, orderImage, readAvailable } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

/** Tries come after 0.2, 0.4, … 6.4 seconds; far less than the minute that the SDK would wait by itself. */
const PLACE_RETURNS_MS = 25_000;

describe('the run of a task whose figures contradict each other', () => {
  const system = startTestSystem({ worker: false });

  it('waits in the server for its next try, not in the worker, and goes on when they agree again', async () => {
    const owner = await system.gateway.createUser(10);
    const task = await orderImage(owner.session);
    await system.gateway.services.taskStarts.underWay(task.id);
    await earmark(owner.id, 0);
    await system.gateway.startWorker();
    await until(
      'the run waits for a timer',
      async () => {
        const { events } = await readHistory(system.engine, task.id);
        return events.at(-1)?.eventType === 'EVENT_TYPE_TIMER_STARTED';
      },
      PLACE_RETURNS_MS,
    );
    const { raw } = await system.engine.handleOf(task.id).describe();
    expect(raw.pendingWorkflowTask).to.equal(null);
    await earmark(owner.id, IMAGE_CREDITS);
    expect(await untilFinal(owner.session, task.id)).to.include({ status: 'completed' });
    expect(await readAvailable(owner)).to.include({ balance: 10 - IMAGE_CREDITS, reserved: 0 });
  });

  async function earmark(userId: string, credits: number): Promise<void> {
    await system.gateway.em().execute(sql`
      update account set earmarked = ${credits * 1_000_000} where user_id = ${userId}`);
  }
});
