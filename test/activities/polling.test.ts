// Polling a job by a worker whose clock is not that of the database.
import { expect } from 'chai';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderVideo } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

const MINUTE_MS = 60_000;

describe('a job that its vendor does not see for a moment after it took it', () => {
  const system = startTestSystem();
  const { now } = Date;
  afterEach(() => {
    Date.now = now;
  });

  for (const [what, aheadMs] of [
    ['a minute ahead', MINUTE_MS],
    ['a minute behind', -MINUTE_MS],
  ] as const)
    it(`is waited for by a worker whose clock is ${what}, and its task completes`, async () => {
      Date.now = () => now() + aheadMs;
      const { id } = await orderVideo(system.owner.session, 'seconds=0 poll=not_found*2');
      expect(await untilFinal(system.owner.session, id)).to.include({ status: 'completed' });
    });
});
