// Sends requests whose response is streamed: pooled connections, whole error bodies, limited silence.
import { once } from 'node:events';
import { type Dispatcher } from 'undici';
import { failureOfNetwork, flattenHeaders, readErrorBytes, readRequestId } from './client.ts';
import type { ToFailure } from './status.ts';
import type { StreamPool } from './stream-pool.ts';
import { UpstreamFailure } from '../provider.ts';

export interface StreamingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Longest silence: until the response begins, and then between two of its chunks. */
  timeoutMs: number;
  /** The user whose share of the connections is used. */
  userId: string;
  signal: AbortSignal;
}

export interface StreamingResponse {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  upstreamRequestId: string | null;
  body: Dispatcher.ResponseData['body'];
}

const DRAIN_WAIT_MS = 1_000;

/**
 * Resolves as soon as the headers of a 2xx response are there. Its connection belongs to the user's share
 * until the body is closed. Throws the UpstreamFailure that `toFailure` makes of any other status, or the one
 * of a network error, and what `StreamPool.take` throws.
 */
export async function openStream(
  pool: StreamPool,
  call: StreamingRequest,
  toFailure: ToFailure,
): Promise<StreamingResponse> {
  const address = splitUrl(call.url);
  const release = await pool.take(address.origin, call.userId, call.signal);
  try {
    const response = await sendStreaming(pool, address, call, toFailure);
    response.body.once('close', release);
    return response;
  } catch (error) {
    release();
    throw error;
  }
}

interface UrlParts {
  origin: string;
  /** Path and query. */
  path: string;
}

/** The URLs called so far: one for each upstream that the settings name. */
const splitUrls = new Map<string, UrlParts>();

/** Splits a URL once: parsing it costs more than the look at a Map. */
function splitUrl(url: string): UrlParts {
  const known = splitUrls.get(url);
  if (known) return known;
  const { origin, pathname, search } = new URL(url);
  const parts = { origin, path: `${pathname}${search}` };
  splitUrls.set(url, parts);
  return parts;
}

async function sendStreaming(
  pool: StreamPool,
  address: UrlParts,
  call: StreamingRequest,
  toFailure: ToFailure,
): Promise<StreamingResponse> {
  const options = {
    ...address,
    method: 'POST',
    headers: { ...call.headers, 'accept-encoding': 'identity' },
    body: call.body,
    headersTimeout: call.timeoutMs,
    bodyTimeout: call.timeoutMs,
    signal: call.signal,
  } as const;
  const response = await pool.agent.request(options).catch((error: unknown) => {
    throw failureOfNetwork(error);
  });
  const headers = flattenHeaders(response.headers);
  const upstreamRequestId = readRequestId(headers);
  if (response.statusCode >= 200 && response.statusCode <= 299) {
    // A reader is told of an error by its iterator; without this listener an error after the last read would
    // be uncaught.
    response.body.on('error', () => undefined);
    return { headers, upstreamRequestId, body: response.body };
  }
  const body = await readErrorBytes(response.body);
  throw toFailure({ status: response.statusCode, headers, body, upstreamRequestId });
}

/**
 * Waits for the first bytes of the body, at most `waitMs`. Throws an UpstreamFailure when the body breaks off
 * or ends before them, which is before anything was delivered to the caller.
 */
export async function waitForFirstBytes(
  { body, upstreamRequestId }: StreamingResponse,
  waitMs: number,
): Promise<void> {
  try {
    if (await hasBytes(body, waitMs)) return;
  } catch (error) {
    body.destroy();
    const { fate, cause } = failureOfNetwork(error);
    throw new UpstreamFailure('transient', fate, { cause, upstreamRequestId });
  }
  body.destroy(); // a body that is not read never closes, and its connection stays taken
  throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
}

/**
 * Whether the body has bytes, or has neither bytes nor an end after `waitMs`. Throws the error that broke it.
 */
async function hasBytes(body: StreamingResponse['body'], waitMs: number): Promise<boolean> {
  if (body.errored) throw body.errored;
  if (body.readableLength > 0) return true;
  if (body.closed) return false;
  const waited = AbortSignal.timeout(waitMs);
  const leaving = new AbortController();
  const signal = AbortSignal.any([waited, leaving.signal]);
  try {
    // A body that has ended already is never readable; it closes.
    await Promise.race([once(body, 'readable', { signal }), once(body, 'close', { signal })]);
    return body.readableLength > 0;
  } catch (error) {
    if (waited.aborted) return true;
    throw error;
  } finally {
    leaving.abort();
  }
}

/**
 * Reads the remainder of a finished answer, so that its connection can be reused; gives up after a second.
 */
export function drainBody({ body }: StreamingResponse): void {
  const timer = setTimeout(() => body.destroy(), DRAIN_WAIT_MS);
  body.once('close', () => clearTimeout(timer));
  body.resume();
}
