// Puts load on one target: measures throughput, latencies and the processor time of all that is behind it.
import autocannon from 'autocannon';
import { randomUUID } from 'node:crypto';
import { processorSeconds } from '../processes.ts';

export interface Target {
  name: string;
  url: string;
  /** Headers of each account; requests take turns. */
  headers: readonly Record<string, string>[];
  /** Process ids whose processor time counts, with all their children. */
  pids: readonly number[];
  /** Whether the target streams; Portkey's release does not on this version of Node. */
  streams: boolean;
  /** Whether each request carries an `Idempotency-Key` of its own. */
  isKeyed?: true;
}

export interface Load {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the target and of all that it uses, per call. */
  cpuMs: number;
  answered: number;
  refused: number;
}

const BODY = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Say something.' }] };

/** Requests whole answers, over so many connections at a time, for `seconds`. */
export async function loadTarget(target: Target, connections: number, seconds: number): Promise<Load> {
  const before = processorSeconds(target.pids);
  const requests = target.headers.map((headers) => ({
    method: 'POST' as const,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(BODY),
    ...(target.isKeyed && { setupRequest: addKey }),
  }));
  const shares = shareOut(requests, connections).values();
  const result = await autocannon({
    url: target.url,
    connections,
    duration: seconds,
    setupClient: (client) => client.setRequests(shares.next().value ?? requests),
  });
  const answered = result['2xx'];
  return {
    perSecond: answered / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMs: ((processorSeconds(target.pids) - before) * 1000) / answered,
    answered,
    refused: result.non2xx + result.errors,
  };
}

function addKey(request: autocannon.Request): autocannon.Request {
  return { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } };
}

/**
 * The requests of each connection: every request has one, every connection at least one. All requests for
 * all connections would be 100,000 with a thousand accounts: autocannon builds them for two seconds, in
 * which it sends nothing.
 */
function shareOut<Request>(requests: readonly Request[], connections: number): Request[][] {
  return Array.from({ length: connections }, (_, connection) =>
    requests.length < connections
      ? requests.slice(connection % requests.length, (connection % requests.length) + 1)
      : requests.filter((_request, index) => index % connections === connection),
  );
}

export interface StreamTimes {
  firstMs: number;
  /** Until the last piece with text; after it come usage and end, for which the gateway settles. */
  lastTextMs: number;
  totalMs: number;
}

/** Times one streamed answer: until its first piece, its last text, and its end. */
export async function timeStream(target: Target): Promise<StreamTimes> {
  const startedAt = performance.now();
  const response = await fetch(target.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers[0] },
    body: JSON.stringify({ ...BODY, stream: true }),
  });
  const decoder = new TextDecoder();
  let firstMs: number | null = null;
  let lastTextMs = 0;
  for await (const piece of response.body ?? []) {
    const atMs = performance.now() - startedAt;
    firstMs ??= atMs;
    if (decoder.decode(piece).includes('"content"')) lastTextMs = atMs;
  }
  if (response.status !== 200 || firstMs === null) throw new Error(`${target.name} did not stream`);
  return { firstMs, lastTextMs, totalMs: performance.now() - startedAt };
}

/** Times one whole answer, in milliseconds. */
export async function timeCall(target: Target): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(target.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers[0] },
    body: JSON.stringify(BODY),
  });
  await response.text();
  if (response.status !== 200) throw new Error(`${target.name} answered ${response.status}`);
  return performance.now() - startedAt;
}
