// Writes that must not be lost, repeated by a process whose clock is set meanwhile.
import { expect } from 'chai';
import { retryWrite } from '../../activities/activity-retry.ts';
import { restoreClock, setClock } from '../support/clock.ts';

const HOUR_MS = 3_600_000;

describe('a write that is repeated', () => {
  afterEach(restoreClock);

  it('is repeated although the clock was set ahead by an hour since the first try', async () => {
    let tries = 0;
    const answer = await retryWrite(async () => {
      tries += 1;
      if (tries > 1) return 'written';
      setClock(HOUR_MS);
      throw new Error('the database is away');
    });
    expect(answer).to.equal('written');
  });
});
