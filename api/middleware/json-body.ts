// Reads JSON bodies strictly: refuses what PostgreSQL cannot store and what could confuse a price, and what
// takes too much memory or time before it is parsed.
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { createJsonScan } from '../../domain/json-scan.ts';
import { whenClosed } from '../http/at-close.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { LONG_BODY_BYTES, workInTurn } from '../http/long-work.ts';
import { encodingOf, freeMemory, receiveBody, tooLarge, type BodyLimits } from '../http/receive-body.ts';
import type { Services } from '../services.ts';
import { receiveInTurn } from './turns.ts';

/**
 * Middleware that reads a body; the result is always an object. Runs after authentication. The memory for
 * the body is reserved until the answer is sent; 503 `overloaded` when too much is under way.
 */
export function readJsonBody(services: Services, limits: BodyLimits): RequestHandler {
  return async (req, res, next) => {
    requireJson(req);
    // By the announced length first, before anything is read.
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > limits.bytesMax) throw tooLarge(limits.bytesMax);
    // How long a chunked or compressed body becomes shows while it arrives.
    const isLengthKnown = announced > 0 && encodingOf(req) === 'identity';
    const bytes = await receiveInTurn(services, res, async (takeTurnFor) => {
      await takeTurnFor(announced);
      const reserve = bodyMemory(services, req, res);
      if (isLengthKnown) reserve(announced);
      const scan = createJsonScan();
      return receiveBody(req, limits, (chunk, received) => {
        if (!isLengthKnown) reserve(chunk.length);
        const excess = scan(chunk);
        if (excess !== null) throw new GatewayError('invalid_request', { message: excess });
        return takeTurnFor(received);
      });
    });
    localsOf(res).bodyBytes = bytes.length;
    const isLong = bytes.length > LONG_BODY_BYTES;
    req.body = isLong
      ? await workInTurn(services, requireLocal(res, 'subject'), () => parseLong(bytes))
      : parseSound(bytes);
    next();
  };
}

/** Whether a body says that it is JSON in UTF-8. */
export function isJson(req: Request): boolean {
  const [essence = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (essence.trim() !== 'application/json') return false;
  const charsets = parameters
    .map((parameter) => parameter.trim())
    .filter((parameter) => parameter.startsWith('charset='));
  return charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
}

/**
 * Reserves memory for the body of a request until its answer is sent, on the account of its user, or of its
 * address before a login.
 */
export function bodyMemory(
  { bodies, metrics }: Services,
  req: Request,
  res: Response,
): (bytes: number) => void {
  const caller = requireLocal(res, 'caller');
  const holder = caller.proof === 'none' ? `ip ${req.ip ?? ''}` : caller.user.id;
  const releases: (() => void)[] = [];
  const releaseAll = (): void => releases.splice(0).forEach((release) => release());
  localsOf(res).releaseBody = releaseAll;
  whenClosed(res, releaseAll);
  return (bytes) => {
    const release = bodies.reserve(holder, bytes);
    if (!release) {
      metrics.shed('bodies');
      throw new GatewayError('overloaded');
    }
    if (res.closed) release();
    else releases.push(release);
  };
}

/** Throws for what JSON allows and this service cannot store. The depth was bounded before. */
export function rejectUnsound(value: unknown): void {
  if (typeof value === 'string' && !isStorable(value))
    throw unsound('A text holds a NUL character or half a character.');
  if (typeof value === 'number' && !Number.isFinite(value)) throw unsound('A number is too large.');
  if (typeof value !== 'object' || value === null) return;
  for (const name in value) {
    if (!isStorable(name)) throw unsound('A field name holds a NUL character or half a character.');
    rejectUnsound(Reflect.get(value, name));
  }
}

function requireJson(req: Request): void {
  if (!isJson(req)) throw new GatewayError('unsupported_media_type');
  if (encodingOf(req) !== null) return;
  const message = 'Send the body as it is, or packed with gzip, deflate or br.';
  throw new GatewayError('unsupported_media_type', { message });
}

/** Parses and checks in two rounds of the event loop. */
async function parseLong(bytes: Buffer): Promise<object> {
  const body = parseObject(bytes);
  freeMemory(bytes);
  await setImmediate();
  rejectUnsound(body);
  return body;
}

function parseSound(bytes: Buffer): object {
  const body = parseObject(bytes);
  rejectUnsound(body);
  return body;
}

/** Parses the body; an empty one is an object without fields. */
function parseObject(bytes: Buffer): object {
  if (bytes.length === 0) return {};
  const body = parse(bytes);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new GatewayError('invalid_request', { message: 'The request body must be a JSON object.' });
}

/** The parser's own error quotes the input, so it is dropped. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new GatewayError('invalid_json');
  }
}

function unsound(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
