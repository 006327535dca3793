// Opening an answer that is read while it comes: connections are kept, errors are read whole, silence is limited.
import { once } from 'node:events';
import { Agent, request, type Dispatcher } from 'undici';
import { connectOrSay, failureOfNetwork, flattenHeaders, readErrorBytes, readRequestId } from './client.ts';
import type { Judge } from './status.ts';
import { UpstreamFailure } from '../provider.ts';

export interface StreamingCall {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Longest silence: until the answer begins, and then between two of its pieces. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface OpenAnswer {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  upstreamRequestId: string | null;
  body: Dispatcher.ResponseData['body'];
}

const CONNECTIONS_PER_ORIGIN_MAX = 512;
const END_WAIT_MS = 1_000;

/** One for all chat upstreams: opening a connection costs more than the rest of a call. */
const pooled = new Agent({ connect: connectOrSay, connections: CONNECTIONS_PER_ORIGIN_MAX, pipelining: 1 });

/** Answers as soon as a status of 2xx is there. Throws what `judge` makes of another one, and UpstreamFailures of the network. */
export async function openUpstream(call: StreamingCall, judge: Judge): Promise<OpenAnswer> {
  const response = await request(call.url, {
    dispatcher: pooled,
    method: 'POST',
    headers: { ...call.headers, 'accept-encoding': 'identity' },
    body: call.body,
    headersTimeout: call.timeoutMs,
    bodyTimeout: call.timeoutMs,
    signal: call.signal,
  }).catch((error: unknown) => {
    throw failureOfNetwork(error);
  });
  const headers = flattenHeaders(response.headers);
  const upstreamRequestId = readRequestId(headers);
  if (response.statusCode >= 200 && response.statusCode <= 299) {
    // Whoever reads it learns of an error; one that comes when nobody reads any more is nobody's.
    response.body.on('error', () => undefined);
    return { headers, upstreamRequestId, body: response.body };
  }
  const body = await readErrorBytes(response.body);
  throw judge({ status: response.statusCode, headers, body, upstreamRequestId });
}

/**
 * Waits until the body begins, or so long. Throws the UpstreamFailure of a body that broke off or ended before: nothing
 * of it was delivered to anybody.
 */
export async function untilBodyBegins(
  { body, upstreamRequestId }: OpenAnswer,
  waitMs: number,
): Promise<void> {
  if (body.readableLength > 0) return;
  const waited = AbortSignal.timeout(waitMs);
  try {
    await once(body, 'readable', { signal: waited });
  } catch (error) {
    if (waited.aborted) return;
    const { fate, cause } = failureOfNetwork(error);
    throw new UpstreamFailure('transient', fate, { cause, upstreamRequestId });
  }
  if (body.readableLength === 0)
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
}

/** For an answer that has said everything: with its end, if that comes soon, the connection can be used again. */
export function letBodyEnd({ body }: OpenAnswer): void {
  const timer = setTimeout(() => body.destroy(), END_WAIT_MS);
  body.once('close', () => clearTimeout(timer));
  body.resume();
}
