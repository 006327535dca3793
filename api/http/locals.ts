// Types what the middleware leaves for later steps of a request: Express's `res.locals`.
import type { Response } from 'express';
import type { Seat } from './overload.ts';
import type { Em } from '../../db/database.ts';
import type { Caller, RequestTrace } from '../context.ts';
import type { LimitBackend } from '../limits/headers.ts';
import type { EndTurn } from './turns.ts';
import type { ReceivedFile } from '../uploads/receive.ts';

/** The members of `res.locals`, in the order in which they are set first. */
export interface RequestLocals {
  requestId: string;
  trace: RequestTrace;
  /** What runs when the answer has left or its caller has: `api/http/at-close.ts`. */
  atClose: (() => void)[];
  /** Whose the request is: the user; before that is known whose it seems to be (`api/http/subjects.ts`). */
  subject: string;
  /** The place that the overload guard gave the request. */
  seat: Seat;
  /** Ends the turn in which the request is authenticated. */
  endEntry: EndTurn;
  /** The pattern of the route. */
  route: string;
  /** Set on routes for sessions; the context of a handler has one in any case. */
  em: Em;
  caller: Caller;
  /** Whether the caller's key was taken from memory, since the request seemed one that is refused anyway. */
  isKeyDoubtful: boolean;
  /** Whether the body, or a part of it, had not come when the caller was known. */
  isBodyLate: boolean;
  limitBackend: LimitBackend;
  /** Set on routes that create or retry a task, and on long reads. */
  endTurn: EndTurn;
  /** Length of the body, inflated; set where there is one. */
  bodyBytes: number;
  /** Releases the memory of the body; set where there is one. */
  releaseBody: () => void;
  /** Set on upload routes only. */
  file: ReceivedFile;
}

/**
 * The members set so far: for middleware that sets one, and for readers that may run early, such as the
 * request log.
 */
export function localsOf(res: Response): Partial<RequestLocals> {
  return res.locals;
}

/** Reads a member. Throws when the middleware that sets it is not mounted before its reader. */
export function requireLocal<Name extends keyof RequestLocals>(
  res: Response,
  name: Name,
): RequestLocals[Name] {
  const value = localsOf(res)[name];
  if (value === undefined) throw new Error(`no middleware has set "${name}"`);
  return value;
}
