// Turns every thrown error into an answer: the public sentence goes out, the cause into the log.
import type { ErrorRequestHandler, Response } from 'express';
import { TooManyPasswords } from '../../db/identity/passwords.ts';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { StorageUnavailable } from '../../storage/storage.ts';
import { hasLeft } from '../http/at-close.ts';
import { bodyOfError, noteErrorCode } from '../http/error-body.ts';
import { requireLocal } from '../http/locals.ts';
import { sendJson } from '../http/send-reply.ts';

const RETRY_AFTER_SECONDS = '1';
/** Codes of a connection that could not be made, or broke. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/**
 * Answers every error that a handler or a parser threw. `isPoolExhausted`: all database connections are in
 * use.
 */
export function answerErrors(log: Log, isPoolExhausted: () => boolean): ErrorRequestHandler {
  // Express tells a handler of errors from others by its four parameters.
  return (thrown: unknown, req, res, _next) => {
    const error = toGatewayError(thrown, isPoolExhausted);
    // A request refused for overload has no cause, nor has one whose caller left; its line in the request log
    // is enough.
    const isExpected = error.cause === undefined && (error.code === 'overloaded' || hasLeft(res));
    if (error.status >= 500 && !isExpected)
      log.error(
        { err: error.cause ?? thrown, requestId: requireLocal(res, 'requestId'), method: req.method },
        error.code,
      );
    if (res.headersSent) {
      // Half an answer must not look whole. Passed on, the error would make Express take the request's
      // parameters away, which the request log still reads.
      res.destroy();
      return;
    }
    sendError(res, error);
  };
}

function sendError(res: Response, error: GatewayError): void {
  // For API keys only: a session cookie is no authentication scheme of HTTP.
  if (error.code.endsWith('_api_key')) res.setHeader('www-authenticate', 'Bearer');
  if (error.status === 503) res.setHeader('retry-after', RETRY_AFTER_SECONDS);
  // OpenAI's clients repeat a 409 unless told not to.
  if (error.status === 409) res.setHeader('x-should-retry', 'false');
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.setHeader('cache-control', 'no-store');
  noteErrorCode(res, error.code);
  sendJson(res.status(error.status), bodyOfError(error, requireLocal(res, 'requestId')));
}

function toGatewayError(thrown: unknown, isPoolExhausted: () => boolean): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof TooManyPasswords) return new GatewayError('overloaded');
  if (thrown instanceof StorageUnavailable) return new GatewayError('storage_unavailable', { cause: thrown });
  // The router's, for a path that is not percent-encoded as it should be. Its text quotes the path.
  if (thrown instanceof URIError) return new GatewayError('invalid_request', { cause: thrown });
  const code = codeOfDatabase(thrown, isPoolExhausted) ?? 'internal_error';
  return new GatewayError(code, { cause: thrown });
}

/** Maps errors of PostgreSQL and of sockets that are temporary; null for others. */
function codeOfDatabase(thrown: unknown, isPoolExhausted: () => boolean): ErrorCode | null {
  const message = thrown instanceof Error ? thrown.message : '';
  // The pool has one message for a server that does not answer and for no free connection.
  if (/timeout exceeded when trying to connect/.test(message))
    return isPoolExhausted() ? 'overloaded' : 'service_unavailable';
  const code = textMember(thrown, 'code');
  const isAway = /^(08|57P0[123]|53300|25006|25P03|53100|55P03|40001|40P01|57014)/.test(code);
  // The driver's words, also for a connection that broke between two statements of a transaction.
  const isCut = /Connection terminated|Query read timeout|is not queryable/.test(message);
  const isSocket = SOCKET_CODES.has(code);
  return isAway || isSocket || isCut ? 'service_unavailable' : null;
}

function textMember(value: unknown, name: string): string {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'string' ? member : '';
}
