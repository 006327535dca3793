// What is done when an answer has left this process, or its caller has.
import type { Response } from 'express';
import { localsOf } from './locals.ts';

/** Whether the caller has left before the answer did. */
export function hasLeft(res: Response): boolean {
  return res.destroyed && !res.writableFinished;
}

/**
 * Calls `run` when the response closes; never if it has. All share one listener, since a request has half a
 * dozen of them, and an emitter takes longer to add and to call each.
 */
export function whenClosed(res: Response, run: () => void): void {
  const locals = localsOf(res);
  if (locals.atClose) {
    locals.atClose.push(run);
    return;
  }
  const all = [run];
  locals.atClose = all;
  res.once('close', () => {
    for (const each of all) each();
  });
}
