// Calls a route of the API by its name. Body and answer have the types of the schemas that the API uses.
import type { AnswerOf, ApiRoute, BodyOf, QueryOf } from '../../api/openapi/route-types.ts';
import { apiUrl } from './addresses.ts';
import { ApiError, readError } from './api-error.ts';
import { connection } from './connection.ts';
import { takeBegun } from './first-reads.ts';
import { sessionEnded } from './session.ts';
import { askForVerification } from './verification.ts';

/** The parts of a path that begin with a colon. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface CallOptions<Name extends ApiRoute> {
  params?: Record<ParamsOf<Name>, string>;
  query?: QueryOf<Name>;
  body?: BodyOf<Name>;
  signal?: AbortSignal;
  /** Names the effect, so that a repeated request has it once. */
  idempotencyKey?: string;
}

/** Routes after which a 401 is about what was typed, and not about the session. */
const LOGIN_ROUTES = /^POST \/api\/(auth\/login|auth\/login\/2fa|auth\/password|auth\/totp\/confirm|verify)$/;

/**
 * Sends the request. Rejects with an ApiError. When the API asks for a fresh proof of identity, the user is
 * asked for it, and the request is sent again.
 */
export async function call<Name extends ApiRoute>(
  name: Name,
  options: CallOptions<Name> = {},
): Promise<AnswerOf<Name>> {
  const [method = 'GET', path = ''] = name.split(' ');
  const response = await send(method, addressOf(path, options), options);
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as AnswerOf<Name>;
  const error = await readError(response);
  if (error.code === 'verification_required') {
    if (await askForVerification()) return call(name, options);
    throw new ApiError({ status: 403, code: 'not_verified', message: error.message });
  }
  if (error.status === 401 && !LOGIN_ROUTES.test(name)) sessionEnded();
  if (error.isAway) connection.lost();
  throw error;
}

function addressOf(path: string, { params, query }: { params?: object; query?: object }): string {
  const values = (params ?? {}) as Record<string, string>;
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  return apiUrl(filled) + (search.size > 0 ? `?${search}` : '');
}

async function send(
  method: string,
  url: string,
  options: { body?: unknown; signal?: AbortSignal; idempotencyKey?: string },
): Promise<Response> {
  const { body, signal, idempotencyKey } = options;
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  const sentAt = performance.now();
  try {
    const request = {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    const response = await (takeBegun(method, url) ?? fetch(url, request));
    if (response.status < 500) connection.found(sentAt);
    return response;
  } catch (cause) {
    if (signal?.aborted) throw cause;
    connection.lost();
    throw new ApiError({ status: 0, code: 'no_connection', message: 'The API does not answer.' });
  }
}
