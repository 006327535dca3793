// HTTP requests to vendors: bounded in time and size, without redirects, with the fate of whatever failed.
import { Agent, buildConnector, request, type FormData } from 'undici';
import { createJsonScan } from '../../domain/json-scan.ts';
import { FairShare, type Release } from './fair-share.ts';
import { failureOfStatus, type ToFailure, type UpstreamResponse } from './status.ts';
import { withTimeLimit } from './time-limit.ts';
import { UpstreamFailure } from '../provider.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | FormData;
  /** Longest silence: until the response begins, and then between two of its chunks. */
  timeoutMs: number;
  /** Longest body of a 2xx response. Error bodies are read up to 64 KiB. */
  bytesMax: number;
  signal?: AbortSignal | undefined;
  /** Asks for what can be asked for again, as every GET does: a long answer waits for its place. */
  isRead?: boolean | undefined;
}

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Limit of the whole request as a multiple of the longest silence, for vendors that send a byte now and then.
 */
const TOTAL_TIMEOUT_FACTOR = 5;
const ERROR_BYTES_MAX = 64 * 1024;
/**
 * Longer JSON is counted before it is parsed: it is long for the files in it, and the same bytes as empty
 * objects would take forty times their memory.
 */
const UNCOUNTED_BYTES_MAX = 1024 * 1024;
/** Beyond it, a body of a 2xx response is a long one: a video or a large picture in base64. */
const LONG_BODY_BYTES = 4 * 1024 * 1024;
/**
 * Long bodies of reads that a process takes at once, half of them of one vendor. A video of 60 MB takes
 * thrice its size until it is parsed, and those of many tasks may end in the same second. Any other answer
 * may be the only copy of what was paid for, and waits for none.
 */
const LONG_BODIES_MAX = 16;
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-tt-logid', 'x-trace-id', 'trace-id'];

/** No connection came about, so no byte was sent: the only network error whose outcome is known. */
class NotConnected extends Error {}

const connectOnce = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

/** Opens a socket; a failure is a NotConnected, so that it can be told apart from later network errors. */
export const connectWithReason: buildConnector.connector = (options, callback) => {
  connectOnce(options, (...outcome) => {
    const [error, socket] = outcome;
    if (error) callback(new NotConnected('no connection', { cause: error }), null);
    else callback(null, socket);
  });
};

const longBodies = new FairShare(LONG_BODIES_MAX);

const keepAliveAgent = new Agent({ connect: connectWithReason });
/**
 * For everything but GET: a connection of its own per request. If the vendor closed a kept connection at the
 * moment of a submission, it would be unknown whether the work was taken.
 */
const oneShotAgent = new Agent({ connect: connectWithReason, pipelining: 0 });

/**
 * Sends one request and reads its response, whatever its status. Throws an UpstreamFailure:
 * `transient`, `not_received` when no connection came about (name, refusal, TLS handshake);
 * `transient`, `unknown` after a reset, a silence or an abort; `invalid_response`, `unknown` for a body
 * beyond `bytesMax`.
 */
export async function sendRequest(call: UpstreamRequest): Promise<UpstreamResponse> {
  const limitMs = call.timeoutMs * TOTAL_TIMEOUT_FACTOR;
  return withTimeLimit(limitMs, call.signal, (signal) => sendWithin(signal, call));
}

/**
 * Sends one request and returns its response with the parsed JSON, null for an empty body. Throws what
 * `sendRequest` throws, the UpstreamFailure that `toFailure` makes of a status outside 2xx, and
 * `invalid_response`, `unknown` for HTML, cut JSON, and JSON of too many values.
 */
export async function requestJson(
  call: UpstreamRequest,
  toFailure: ToFailure = failureOfStatus,
): Promise<UpstreamResponse & { json: unknown }> {
  const response = await sendRequest(call);
  if (response.status < 200 || response.status > 299) throw toFailure(response);
  try {
    return { ...response, json: parseJson(response.body) };
  } catch {
    // The parser's message quotes the body, so it is not kept as a cause.
    throw new UpstreamFailure('invalid_response', 'unknown', {
      upstreamRequestId: response.upstreamRequestId,
    });
  }
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return null;
  if (body.length > UNCOUNTED_BYTES_MAX && createJsonScan()(body) !== null)
    throw new Error('too many values');
  return JSON.parse(body.toString('utf8'));
}

async function sendWithin(signal: AbortSignal, call: UpstreamRequest): Promise<UpstreamResponse> {
  if (signal.aborted) throw new UpstreamFailure('transient', 'not_received', { cause: signal.reason });
  const response = await request(call.url, {
    dispatcher: call.method === 'GET' ? keepAliveAgent : oneShotAgent,
    method: call.method,
    headers: { accept: 'application/json', ...call.headers, 'accept-encoding': 'identity' },
    body: call.body ?? null,
    headersTimeout: call.timeoutMs,
    bodyTimeout: call.timeoutMs,
    signal,
  }).catch((error: unknown) => {
    throw failureOfNetwork(error);
  });
  const headers = flattenHeaders(response.headers);
  const answer = { status: response.statusCode, headers, upstreamRequestId: readRequestId(headers) };
  if (answer.status > 299) return { ...answer, body: await readErrorBytes(response.body) };
  return { ...answer, body: await readBody(response.body, call, signal, answer.upstreamRequestId) };
}

/** The failure of a request that brought no response. */
export function failureOfNetwork(error: unknown): UpstreamFailure {
  const fate = error instanceof NotConnected ? 'not_received' : 'unknown';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isSilence = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return new UpstreamFailure('transient', fate, { cause: error, isSilence });
}

/** The first 64 KiB of an error's body; what was read of a body that breaks off. */
export async function readErrorBytes(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ERROR_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch {
    // The status of an error already tells what happened, so its text may be incomplete.
  }
  return Buffer.concat(chunks);
}

/** The rest of a long body stays unread, in the vendor's hands, while it waits for its place. */
async function readBody(
  body: AsyncIterable<Buffer>,
  { method, url, bytesMax, isRead = method === 'GET' }: UpstreamRequest,
  signal: AbortSignal,
  upstreamRequestId: string | null,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let endTurn: Release | null = null;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) break;
      chunks.push(chunk);
      if (bytes > LONG_BODY_BYTES && isRead) endTurn ??= await longBodies.take(new URL(url).origin, signal);
    }
  } catch (error) {
    throw new UpstreamFailure('transient', 'unknown', { cause: error, upstreamRequestId });
  } finally {
    endTurn?.();
  }
  if (bytes > bytesMax) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return Buffer.concat(chunks);
}

/** Header names are in lower case already; several values become one text. */
export function flattenHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) flat[name] = String(headers[name] ?? '');
  return flat;
}

/** The vendor's id of the request, or null where it gave none of printable characters. */
export function readRequestId(headers: Readonly<Record<string, string>>): string | null {
  return requestIdOf(REQUEST_ID_HEADERS.map((name) => headers[name]).find((value) => value !== undefined));
}

/** A vendor's id of a request, wherever it stands; null for what is not 1 to 200 printable characters. */
export function requestIdOf(value: unknown): string | null {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
}
