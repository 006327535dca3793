// Lets creations and long reads wait for their user's turn, so that a burst of one user delays no other user.
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { CREATION_TURN_LIMITS, READ_TURN_LIMITS } from '../http/turns.ts';
import type { Services } from '../services.ts';

/** Retry-after time of a full line, which moves all the time. */
const LINE_FULL_RETRY_MS = 1_000;

/** What a caller is told whose line is full, and the reason in the metrics when a turn does not come. */
const KINDS = {
  creation: {
    code: 'queue_full',
    quota: { name: 'parallel-creations', points: CREATION_TURN_LIMITS.lineMax, seconds: null },
    shed: 'creation_turns',
  },
  read: {
    code: 'rate_limited',
    quota: { name: 'parallel-reads', points: READ_TURN_LIMITS.lineMax, seconds: null },
    shed: 'read_turns',
  },
} as const;

/**
 * Waits for a turn, which ends when the handler says so, or with the answer. Runs after authentication.
 * Throws 429 when too many requests of the user are waiting, 503 when the turn does not come.
 */
export function takeTurn(services: Services, kind: keyof typeof KINDS): RequestHandler {
  const { limits, metrics } = services;
  const turns = kind === 'creation' ? services.creationTurns : services.readTurns;
  const { code, quota, shed } = KINDS[kind];
  return async (_req, res, next) => {
    const caller = requireLocal(res, 'caller');
    if (caller.proof === 'none') throw new Error('a turn without a caller');
    const disconnection = new AbortController();
    const leave = (): void => disconnection.abort();
    res.once('close', leave);
    // Waiting in a line of one's own is no load on others.
    const resume = requireLocal(res, 'seat').rest();
    const turn = await turns.take(caller.user.id, disconnection.signal);
    res.off('close', leave);
    resume();
    if (turn === 'left') return; // the caller has gone, and nothing was done
    if (turn === 'late' || turn === 'lines_full') {
      metrics.shed(shed);
      throw new GatewayError('overloaded');
    }
    if (turn === 'line_full')
      throw limits.refuse(code, quota, {
        backend: requireLocal(res, 'limitBackend'),
        resetMs: LINE_FULL_RETRY_MS,
      });
    localsOf(res).endTurn = turn;
    res.once('close', turn);
    next();
  };
}
