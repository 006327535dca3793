// The answer to a statement that is lost on its way, while the statement stands: as when the database hangs.
import { expect } from 'chai';
import { driverPoolOf } from '../../db/pool.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  readEvents,
  type OrderedTask,
} from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

describe('a task whose intent was written, although the database did not acknowledge it', () => {
  const system = startTestSystem();

  /** Loses the first answer to the statement of this name, which a version follows. */
  async function loseAnswer(name: string): Promise<() => number> {
    const pool = await driverPoolOf(system.gateway.services.database.em);
    const query = pool.query.bind(pool);
    let lost = 0;
    pool.query = async (statement) => {
      const answer = await query<never>(statement);
      if (!statement.name.startsWith(name) || lost > 0) return answer;
      lost += 1;
      throw new Error('Query read timeout');
    };
    return () => lost;
  }

  for (const [what, order] of [
    ['an image', () => orderImage(system.owner.session)],
    ['a video', () => orderVideo(system.owner.session)],
  ] satisfies [string, () => Promise<OrderedTask>][])
    it(`such as ${what}, is handed over once, completes and is charged once`, async () => {
      const countLost = await loseAnswer('intend-submission');
      const task = await order();
      expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'completed' });
      expect(countLost()).to.equal(1);
      await expectOneChargeAndSubmission(system.gateway, system.owner, task);
      const events = await readEvents(system.owner.session, task.id);
      expect(events.filter((event) => event === 'submitting')).to.have.length(1);
    });
});
