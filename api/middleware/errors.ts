// The one place where errors become answers: public sentences out, causes into the log.
import type { ErrorRequestHandler, Response } from 'express';
import { ERRORS, GatewayError, type ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { requestIdOf } from './request-id.ts';

const RETRY_AFTER_SECONDS = '1';

/** Answers every error that a handler or a parser threw. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    const error = toGatewayError(thrown);
    if (error.status >= 500)
      log.error({ err: error.cause ?? thrown, requestId: requestIdOf(res), method: req.method }, error.code);
    if (res.headersSent) {
      next(thrown); // Express cuts the connection: half an answer must not look whole
      return;
    }
    sendError(res, error);
  };
}

export function sendError(res: Response, error: GatewayError): void {
  const { type } = ERRORS[error.code];
  const { message, param, code, extra } = error;
  // A key was missing or not good; a session cookie is no scheme of HTTP's.
  if (error.code.endsWith('_api_key')) res.setHeader('www-authenticate', 'Bearer');
  if (error.status === 503 || error.code === 'queue_full') res.setHeader('retry-after', RETRY_AFTER_SECONDS);
  // OpenAI's clients repeat a 409; ours say when that is of no use.
  if (error.status === 409) res.setHeader('x-should-retry', 'false');
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.setHeader('cache-control', 'no-store');
  res
    .status(error.status)
    .json({ error: { message, type, param, code, request_id: requestIdOf(res), ...extra } });
}

function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(codeOfParser(thrown) ?? codeOfDatabase(thrown) ?? 'internal_error', {
    cause: thrown,
  });
}

/** What body-parser and the router name their errors. Their own texts quote the input, so ours are used. */
function codeOfParser(thrown: unknown): ErrorCode | null {
  if (thrown instanceof URIError) return 'invalid_request';
  const type = textMember(thrown, 'type');
  switch (type) {
    case 'entity.parse.failed':
    case 'entity.verify.failed':
      return 'invalid_json';
    case 'entity.too.large':
      return 'payload_too_large';
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return 'unsupported_media_type';
    case 'request.aborted':
    case 'request.size.invalid':
      return 'invalid_request';
    default:
      // zlib's and brotli's errors about a compressed body that is none
      return /^(Z_|ERR__ERROR_)/.test(textMember(thrown, 'code')) ? 'invalid_request' : null;
  }
}

/** Codes of PostgreSQL and of sockets that mean "not now" rather than "our mistake". */
function codeOfDatabase(thrown: unknown): ErrorCode | null {
  const code = textMember(thrown, 'code');
  const isAway = /^(08|57P0[123]|53300|25006|53100|55P03|40001|40P01)/.test(code);
  const isSocket = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND'].includes(code);
  const message = thrown instanceof Error ? thrown.message : '';
  const isPool = /timeout exceeded when trying to connect|Connection terminated|Query read timeout/.test(
    message,
  );
  return isAway || isSocket || isPool ? 'service_unavailable' : null;
}

function textMember(value: unknown, name: string): string {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'string' ? member : '';
}
