// What the middleware before a handler found out about its request: Express's `res.locals`, with types.
import type { Response } from 'express';
import type { Em } from '../../db/database.ts';
import type { Caller, RequestTrace } from '../context.ts';
import type { LimitBackend } from '../limits/headers.ts';
import type { ReceivedFile } from '../uploads/receive.ts';

/** Each member is set by one middleware, in the order of this list. */
export interface RequestLocals {
  requestId: string;
  trace: RequestTrace;
  em: Em;
  caller: Caller;
  limitBackend: LimitBackend;
  /** Set on upload routes only. */
  file: ReceivedFile;
}

/**
 * For middleware that sets a member, and for readers that may run before it is set, such as the request log.
 */
export function localsOf(res: Response): Partial<RequestLocals> {
  return res.locals;
}

/** Throws when the middleware that sets the member is not mounted before its reader. */
export function requireLocal<Name extends keyof RequestLocals>(
  res: Response,
  name: Name,
): RequestLocals[Name] {
  const value = localsOf(res)[name];
  if (value === undefined) throw new Error(`no middleware has set "${name}"`);
  return value;
}
