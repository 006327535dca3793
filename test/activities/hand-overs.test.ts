// A hand-over that is under way while the clock of its worker is set back.
import { sql } from '@mikro-orm/postgresql';
import { restoreClock, setClock } from '../support/clock.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderImage, untilSubmitted } from '../support/tasks.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
/** After this an intent that is not kept fresh counts as abandoned, and its task fails. */
const FRESH_MS = 15_000;

describe('a hand-over whose worker’s clock is set back by an hour', () => {
  setClock(0);
  const system = startTestSystem();
  after(restoreClock);

  it('goes on telling that it is under way', async () => {
    const task = await orderImage(system.owner.session, 'seconds=30');
    await untilSubmitted(system.gateway, task);
    setClock(-HOUR_MS);
    const isFreshened = async () => {
      const [row] = await system.gateway.em().execute<{ is: boolean }[]>(sql`
        select updated_at > sent_at as is from submission where task_id = ${task.id}`);
      return row?.is;
    };
    await until('the submission is kept fresh', isFreshened, FRESH_MS);
    await system.owner.session.delete(`/api/tasks/${task.id}`);
  });
});
