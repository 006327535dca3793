// The security log: refusals that concern operators, as log lines. Changes are recorded in the audit log
// instead.
import type { ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';

/** Logs nothing that the caller sent: `route` comes from the route table, `code` from the error catalogue. */
export function logRefusal(
  log: Log,
  refusal: { userId: string; route: { method: string; path: string }; code: ErrorCode; requestId: string },
): void {
  const { userId, route, code, requestId } = refusal;
  log.warn({ userId, route: `${route.method} ${route.path}`, code, requestId }, 'a request was refused');
}
