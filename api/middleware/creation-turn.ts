// Lets a creation wait for its user's turn, so that a burst of one user delays no other user.
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import type { Services } from '../services.ts';
import { CREATION_TURN_LIMITS } from '../tasks/creation-turns.ts';

/** Retry-after time of a full line, which moves all the time. */
const LINE_FULL_RETRY_MS = 1_000;

/**
 * Waits for a turn, which ends when the handler says so, or with the answer. Runs after authentication.
 * Throws 429 `queue_full` when too many creations of the user are waiting, 503 when the turn does not come.
 */
export function takeCreationTurn({ creationTurns, limits, metrics }: Services): RequestHandler {
  return async (_req, res, next) => {
    const caller = requireLocal(res, 'caller');
    if (caller.proof === 'none') throw new Error('a creation without a caller');
    const disconnection = new AbortController();
    const leave = (): void => disconnection.abort();
    res.once('close', leave);
    // Waiting in a line of one's own is no load on others.
    const resume = requireLocal(res, 'seat').rest();
    const turn = await creationTurns.take(caller.user.id, disconnection.signal);
    res.off('close', leave);
    resume();
    if (turn === 'left') return; // the caller has gone, and nothing was created
    if (turn === 'late' || turn === 'lines_full') {
      metrics.shed('creation_turns');
      throw new GatewayError('overloaded');
    }
    if (turn === 'line_full')
      throw limits.refuse(
        'queue_full',
        { name: 'parallel-creations', points: CREATION_TURN_LIMITS.lineMax, seconds: null },
        { backend: requireLocal(res, 'limitBackend'), resetMs: LINE_FULL_RETRY_MS },
      );
    localsOf(res).endTurn = turn;
    res.once('close', turn);
    next();
  };
}
