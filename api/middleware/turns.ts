// Lets requests wait for their user's turn, so that a burst of one user delays no other user: all of them to
// be authenticated, and creations and long reads once more before their handler.
import type { RequestHandler, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { whenClosed } from '../http/at-close.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { CREATION_TURN_LIMITS, READ_TURN_LIMITS } from '../http/turn-limits.ts';
import { LONG_BODY_BYTES } from '../http/long-work.ts';
import type { EndTurn, NoTurn, Turns } from '../http/turns.ts';
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
 * Waits for a turn of whose the request seems to be, so that the requests of a burst are looked at a few at
 * once; `endEntry` or the answer ends it. Runs after `rejectWhenOverloaded`, whose place is kept: what waits
 * here is in memory. Throws 503 when the turn does not come.
 */
export function enterInTurn({ entryTurns, metrics }: Services): RequestHandler {
  return (_req, res, next) => {
    const subject = requireLocal(res, 'subject');
    const free = entryTurns.tryTake(subject);
    if (free) {
      localsOf(res).endEntry = endWithAnswer(res, free);
      next();
      return undefined;
    }
    return waitForTurn(entryTurns, subject, res).then((turn) => {
      if (turn === 'left') return;
      if (typeof turn === 'string') {
        metrics.shed('entry_turns');
        throw new GatewayError('overloaded');
      }
      localsOf(res).endEntry = endWithAnswer(res, turn);
      next();
    });
  };
}

/**
 * Waits until the request may go on in this round of the event loop, after an answer that hundreds of
 * requests may have had together. One whose turn does not come goes on at once.
 */
export async function goOnInTurn({ countedTurns }: Services, res: Response): Promise<void> {
  const subject = requireLocal(res, 'subject');
  const turn = countedTurns.tryTake(subject) ?? (await waitForTurn(countedTurns, subject, res));
  if (typeof turn !== 'string') turn();
}

/** Waits for a turn as soon as a body is long: `bytes` is what it has, or says that it will have. */
export type TakeTurnFor = (bytes: number) => Promise<void> | undefined;

/**
 * Runs `receive`, which reads a body, and ends the turn that it took for it. The rest of the body stays
 * unread while it waits. Throws 503 when the turn does not come.
 */
export async function receiveInTurn<Result>(
  services: Services,
  res: Response,
  receive: (takeTurnFor: TakeTurnFor) => Promise<Result>,
): Promise<Result> {
  let isTaken = false;
  let end: EndTurn = () => undefined;
  const takeTurnFor: TakeTurnFor = (bytes) => {
    if (isTaken || bytes <= LONG_BODY_BYTES) return undefined;
    isTaken = true;
    return takeReceivingTurn(services, res).then((turn) => {
      if (turn !== 'left') end = turn; // who has left is noticed by reading on
    });
  };
  try {
    return await receive(takeTurnFor);
  } finally {
    end();
  }
}

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
    // Waiting in a line of one's own is no load on others.
    const resume = requireLocal(res, 'seat').rest();
    const turn = await waitForTurn(turns, caller.user.id, res);
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
    localsOf(res).endTurn = endWithAnswer(res, turn);
    next();
  };
}

async function takeReceivingTurn(
  { receivingTurns, metrics }: Services,
  res: Response,
): Promise<EndTurn | 'left'> {
  const turn = await waitForTurn(receivingTurns, requireLocal(res, 'subject'), res);
  if (typeof turn !== 'string' || turn === 'left') return turn;
  metrics.shed('receiving_turns');
  throw new GatewayError('overloaded');
}

/** Ends the turn with the answer, unless it is ended before. */
function endWithAnswer(res: Response, turn: EndTurn): EndTurn {
  whenClosed(res, turn);
  return turn;
}

/** Resolves as `take` of the turns does; a caller who disconnects, or has gone before, leaves the line. */
async function waitForTurn(turns: Turns, userId: string, res: Response): Promise<EndTurn | NoTurn> {
  if (res.closed) return 'left'; // no event would end the turn
  const disconnection = new AbortController();
  const leave = (): void => disconnection.abort();
  res.once('close', leave);
  const turn = await turns.take(userId, disconnection.signal);
  res.off('close', leave);
  return turn;
}
