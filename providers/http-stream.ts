// Opening an answer that is read while it comes: connections are kept, errors are read whole, silence is limited.
import { Agent, request, type Dispatcher } from 'undici';
import { connectOrSay, failureOfNetwork, flattenHeaders, readErrorBytes, readRequestId } from './http.ts';
import type { UpstreamAnswer } from './http-status.ts';
import type { UpstreamFailure } from './provider.ts';

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

/** One for all chat upstreams: opening a connection costs more than the rest of a call. */
const pooled = new Agent({ connect: connectOrSay, connections: CONNECTIONS_PER_ORIGIN_MAX, pipelining: 1 });

/** Answers as soon as a status of 2xx is there. Throws what `refine` makes of another one, and UpstreamFailures of the network. */
export async function openUpstream(
  call: StreamingCall,
  refine: (answer: UpstreamAnswer) => UpstreamFailure,
): Promise<OpenAnswer> {
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
  if (response.statusCode >= 200 && response.statusCode <= 299)
    return { headers, upstreamRequestId, body: response.body };
  const body = await readErrorBytes(response.body);
  throw refine({ status: response.statusCode, headers, body, upstreamRequestId });
}
