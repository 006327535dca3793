// Writes the JSON body of an error, and remembers which error code an answer carried.
import type { ServerResponse } from 'node:http';
import { ERRORS, type ErrorCode, type GatewayError } from '../../domain/errors.ts';

const codes = new WeakMap<ServerResponse, ErrorCode>();

export function bodyOfError(error: GatewayError, requestId: string): { error: object } {
  const { type } = ERRORS[error.code];
  const { message, param, code, extra } = error;
  return { error: { message, type, param, code, request_id: requestId, ...extra } };
}

/** Notes the code of an answer for the request log. */
export function noteErrorCode(res: ServerResponse, code: ErrorCode): void {
  codes.set(res, code);
}

/** The error code of an answer; null when the answer is no error. */
export function errorCodeOf(res: ServerResponse): ErrorCode | null {
  return codes.get(res) ?? null;
}
