// The time limit of outbound calls.
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { startTimeLimit, withTimeLimit } from '../../../providers/http/time-limit.ts';

const LONG_MS = 60_000;

describe('the time limit of a call', () => {
  it('ends it when the time is up', async () => {
    const reason = await withTimeLimit(5, undefined, reasonOf);
    expect(reason).to.be.instanceOf(DOMException).with.property('name', 'TimeoutError');
  });

  it('ends it when the caller does, for the reason of the caller', async () => {
    const caller = new AbortController();
    const ended = withTimeLimit(LONG_MS, caller.signal, reasonOf);
    caller.abort('not wanted any more');
    expect(await ended).to.equal('not wanted any more');
  });

  it('ends it at once when the caller had ended before', () => {
    const { signal, end } = startTimeLimit(LONG_MS, AbortSignal.abort('gone'));
    end();
    expect(signal).to.include({ aborted: true, reason: 'gone' });
  });

  it('leaves nothing at the signal of the caller, however the call ends', async () => {
    const { signal } = new AbortController();
    await withTimeLimit(LONG_MS, signal, async () => undefined);
    const failed = await withTimeLimit(LONG_MS, signal, async () => {
      expect(getEventListeners(signal, 'abort')).to.have.length(1);
      throw new Error('no answer');
    }).catch((error: unknown) => error);
    expect(failed).to.be.an('error').with.property('message', 'no answer');
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('is over when the call has ended', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const [ended, running] = [startTimeLimit(LONG_MS), startTimeLimit(LONG_MS)];
      ended.end();
      mock.timers.tick(LONG_MS);
      expect([ended.signal.aborted, running.signal.aborted]).to.eql([false, true]);
    } finally {
      mock.timers.reset();
    }
  });
});

/** Resolves with the reason for which the signal fires. */
function reasonOf(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}
