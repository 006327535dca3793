// The security log: refusals that an operator wants to see, as lines of the log. Changes stand in the audit log.
import type { ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';

/** Never give it what the caller sent: the route is the one of the table, and the code is ours. */
export function logRefusal(
  log: Log,
  refusal: { userId: string; route: { method: string; path: string }; code: ErrorCode; requestId: string },
): void {
  const { userId, route, code, requestId } = refusal;
  log.warn({ userId, route: `${route.method} ${route.path}`, code, requestId }, 'a request was refused');
}
