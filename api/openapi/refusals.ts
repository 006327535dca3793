// Lists the error codes that a route can answer: most follow from its row in the route table.
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { Route } from '../context.ts';

/**
 * A row of the route table without its handler. Routes that serve files have no limit, only method, path and
 * proof.
 */
export type RouteRow = Pick<Route, 'method' | 'path' | 'proof'> &
  Partial<Pick<Route, 'limit' | 'idempotent' | 'bodyBytesMax' | 'upload' | 'form' | 'waits'>> & {
    permission?: string;
    stepUp?: true;
  };

/** Errors of any request before it reaches its route, with statuses that few routes have themselves. */
export const BEFORE_ROUTES: readonly ErrorCode[] = [
  'request_timeout',
  'payload_too_large', // of what surrounds the chunks of a body
  'uri_too_long',
  'expectation_failed',
  'headers_too_large',
];

/** Groups the codes by status, in the order of statuses. `added` are the codes of the handler itself. */
export function refusalsOf(
  route: RouteRow,
  { added, readsQuery }: { added: readonly ErrorCode[]; readsQuery: boolean },
): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...ofProof(route),
    // Of a route without a limit, a link, the signature is judged and no schema reads the query.
    ...(readsQuery && route.limit ? (['invalid_value'] as const) : []),
    ...(route.bodyBytesMax === undefined ? [] : OF_BODY),
    ...(route.form ? OF_FORM : []),
    ...(route.upload ? OF_UPLOAD : []),
    ...(route.idempotent ? OF_IDEMPOTENCY : []),
    ...(route.limit ? OF_LIMITS : []),
    ...(added.includes('file_not_found') && route.proof === 'none' ? (['rate_limited'] as const) : []),
    ...added,
    ...OF_ANY,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}

/** A request is invalid that is no sound HTTP, has no host or two, or a path that is encoded wrongly. */
const OF_ANY = ['invalid_request', 'internal_error', 'service_unavailable', 'overloaded'] as const;
const OF_BODY = [
  'invalid_json',
  'missing_field',
  'invalid_value',
  'payload_too_large',
  'unsupported_media_type',
] as const;
const OF_UPLOAD = [
  'invalid_multipart',
  'file_missing',
  'too_many_parts',
  'empty_file',
  'payload_too_large',
  'file_too_large',
  'unsupported_media_type',
] as const;
const OF_FORM = ['invalid_multipart', 'too_many_parts', 'empty_file', 'invalid_image'] as const;
const OF_IDEMPOTENCY = ['idempotency_in_progress', 'idempotency_key_reused'] as const;
const OF_LIMITS = ['rate_limited', 'rate_limiter_unavailable'] as const;

function ofProof({ method, path, proof, permission, stepUp }: RouteRow): ErrorCode[] {
  const codes: ErrorCode[] = [];
  if (proof === 'key')
    codes.push('missing_api_key', 'invalid_api_key', 'expired_api_key', 'account_disabled');
  if (proof === 'session') codes.push('not_authenticated', 'account_disabled');
  if (path.startsWith('/api/') && method !== 'GET') codes.push('csrf_rejected');
  if (permission) codes.push('permission_denied');
  if (stepUp) codes.push('verification_required');
  return codes;
}
