// Pausing inside an activity.
import { getEventListeners } from 'node:events';
import { CancelledFailure } from '@temporalio/common';
import { expect } from 'chai';
import { pause } from '../../activities/heartbeat.ts';

describe('a pause of an activity', () => {
  it('leaves nothing at the activity when it is over', async () => {
    const activity = { cancellationSignal: new AbortController().signal, cancelled: CountedPromise.open() };
    for (let count = 0; count < 3; count += 1) await pause(1, activity);
    expect(getEventListeners(activity.cancellationSignal, 'abort')).to.have.length(0);
    expect(activity.cancelled.reactions).to.equal(0);
  });

  it('ends with a cancellation, as cancelled', async () => {
    const cancelling = new AbortController();
    const cancelled = new Promise<never>((_, reject) => {
      cancelling.signal.addEventListener('abort', () => reject(new CancelledFailure('cancelled')));
    });
    const paused = pause(60_000, { cancellationSignal: cancelling.signal, cancelled }).catch(
      (error: unknown) => error,
    );
    cancelling.abort();
    expect(await paused).to.be.instanceOf(CancelledFailure);
  });
});

/** A promise that never settles and counts those who wait for it. */
class CountedPromise extends Promise<never> {
  reactions = 0;

  static open(): CountedPromise {
    return new CountedPromise(() => undefined);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- this promise is one already
  override then<A, B>(...handlers: Parameters<Promise<never>['then']>): Promise<A | B> {
    this.reactions += 1;
    return super.then(...handlers) as Promise<A | B>;
  }
}
