// Reads JSON bodies strictly: refuses what PostgreSQL cannot store and what could confuse a price.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';

const DEPTH_MAX = 32;
/**
 * Most fields and entries of a body, all levels together: each costs time in every later step, however
 * short it is.
 */
const VALUES_MAX = 100_000;
/**
 * Content encodings that are read. The parser knows one more, whose errors differ between versions of Node.
 */
const ENCODINGS = ['identity', 'gzip', 'deflate', 'br'];

/** Middleware that reads a body of at most this size; the result is always an object. */
export function readJsonBody(bytesMax: number): RequestHandler[] {
  return [requireJson, rejectTooLarge(bytesMax), parser(bytesMax), requireSoundObject];
}

/** Rejects by Content-Length: the parser would answer only after it has read the whole body. */
function rejectTooLarge(bytesMax: number): RequestHandler {
  return (req, _res, next) => {
    const isTooLarge = Number(req.headers['content-length'] ?? 0) > bytesMax;
    next(isTooLarge ? new GatewayError('payload_too_large') : undefined);
  };
}

function parser(bytesMax: number): RequestHandler {
  return express.json({
    limit: bytesMax,
    strict: false, // a body that is no object is refused below, with a better sentence
    type: () => true, // the content type was checked above
    verify: (_req, _res, bytes) => {
      if (!isUtf8(bytes)) throw new Error('the body is not UTF-8');
    },
  });
}

const requireJson: RequestHandler = (req, _res, next) => {
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (isJson(req) && ENCODINGS.includes(encoding)) next();
  else next(new GatewayError('unsupported_media_type'));
};

function isJson(req: Request): boolean {
  const [essence = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (essence.trim() !== 'application/json') return false;
  const charsets = parameters
    .map((parameter) => parameter.trim())
    .filter((parameter) => parameter.startsWith('charset='));
  return charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
}

const requireSoundObject: RequestHandler = (req, _res, next) => {
  const body: unknown = req.body === undefined ? {} : req.body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    next(new GatewayError('invalid_request', { message: 'The request body must be a JSON object.' }));
    return;
  }
  const problem = findUnsound(body);
  next(problem === null ? undefined : new GatewayError('invalid_request', { message: problem }));
};

/**
 * Finds what makes a body unusable, as a sentence; null when nothing does. Uses a stack of its own, because
 * a hostile body may be nested deeper than the call stack allows.
 */
function findUnsound(body: object): string | null {
  const stack: { value: unknown; depth: number }[] = [{ value: body, depth: 1 }];
  let values = 0;
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { value, depth } = entry;
    if (typeof value === 'string' && !isStorable(value))
      return 'A text holds a NUL character or half a character.';
    if (typeof value === 'number' && !Number.isFinite(value)) return 'A number is too large.';
    if (typeof value !== 'object' || value === null) continue;
    if (depth > DEPTH_MAX) return `The body is nested deeper than ${DEPTH_MAX} levels.`;
    // Not `Object.entries`, which would copy all entries before the first one is checked.
    for (const name in value) {
      values += 1;
      if (values > VALUES_MAX) return `The body holds more than ${VALUES_MAX} values.`;
      if (!isStorable(name)) return 'A field name holds a NUL character or half a character.';
      stack.push({ value: Reflect.get(value, name), depth: depth + 1 });
    }
  }
  return null;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
