// Writes the security log: refusals that concern operators. Changes are recorded in the audit log instead.
import type { ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';

/**
 * Logs a refusal. Contains nothing that the caller sent: `route` is of the route table, `code` of the error
 * catalogue.
 */
export function logRefusal(
  log: Log,
  refusal: { userId: string; route: { method: string; path: string }; code: ErrorCode; requestId: string },
): void {
  const { userId, route, code, requestId } = refusal;
  log.warn({ userId, route: `${route.method} ${route.path}`, code, requestId }, 'a request was refused');
}
