// Downloads a file from a foreign URL: every hop is checked, time and size are limited.
import { Readable } from 'node:stream';
import { Agent, request, type buildConnector, type Dispatcher } from 'undici';
import { AddressRefused, checkOutsideUrl, guardedConnector, type Resolve } from './address-guard.ts';
import { startTimeLimit } from './time-limit.ts';

export interface DownloadOptions {
  /** Whether the operator configured this very origin, so that it may be local and without TLS. */
  trustsOrigin: (url: URL) => boolean;
  /** Sent to trusted origins only: a redirect to another origin does not get them. */
  headers?: Readonly<Record<string, string>> | undefined;
  bytesMax: number;
  /** Limit of the whole download. */
  timeoutMs: number;
  /** Longest time without a byte. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
  /** Replaces the name look-up in tests. */
  resolve?: Resolve | undefined;
  /** Replaces the opening of sockets in tests. */
  connect?: buildConnector.connector | undefined;
}

export interface Download {
  status: number;
  /** Size as announced, or null. */
  bytes: number | null;
  /** Fails with a DownloadFailed when the file is cut short, too large, or too slow. */
  stream: Readable;
}

/**
 * `network`: network error or time-out, which may be tried again; `too_large`; `unreadable`: compressed
 * unasked.
 */
export class DownloadFailed extends Error {
  readonly reason: 'network' | 'too_large' | 'unreadable';

  constructor(reason: 'network' | 'too_large' | 'unreadable', cause?: unknown) {
    super(`download failed: ${reason}`, { cause });
    this.name = 'DownloadFailed';
    this.reason = reason;
  }
}

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svc-gateway' };

const trustingAgent = new Agent({ connect: { timeout: 3_000 } });

/**
 * Resolves with the status and a stream, whatever the status. Throws AddressRefused for a URL, or a redirect
 * to one, that may not be fetched (also after three redirects), and DownloadFailed for everything else.
 */
export async function downloadFromOutside(text: string, options: DownloadOptions): Promise<Download> {
  const limit = startTimeLimit(options.timeoutMs, options.signal);
  const guardedAgent = new Agent({ connect: guardedConnector(options.resolve, options.connect) });
  const release = (): void => {
    limit.end();
    void guardedAgent.destroy();
  };
  try {
    const response = await followRedirects(text, options, guardedAgent, limit.signal);
    return readDownload(response, options.bytesMax, release);
  } catch (error) {
    release();
    throw error instanceof AddressRefused ? error : asDownloadFailed(error);
  }
}

async function followRedirects(
  text: string,
  options: DownloadOptions,
  guardedAgent: Agent,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let url = checkOutsideUrl(text, options.trustsOrigin);
  for (let redirects = 0; ; redirects += 1) {
    const isTrusted = options.trustsOrigin(url);
    const response = await request(url, {
      dispatcher: isTrusted ? trustingAgent : guardedAgent,
      method: 'GET',
      headers: isTrusted ? { ...options.headers, ...HEADERS } : HEADERS,
      headersTimeout: options.silenceMs,
      bodyTimeout: options.silenceMs,
      signal,
    });
    // The body may fail before it is read; a reader is still told of the error by its iterator.
    response.body.on('error', () => undefined);
    const location = response.headers['location'];
    if (!REDIRECT_STATUSES.has(response.statusCode) || typeof location !== 'string') return response;
    response.body.destroy();
    if (redirects === REDIRECTS_MAX) throw new AddressRefused();
    url = nextHop(url, location, options.trustsOrigin);
  }
}

function nextHop(from: URL, location: string, trustsOrigin: (url: URL) => boolean): URL {
  const target = URL.parse(location, from.href);
  if (!target || (from.protocol === 'https:' && target.protocol !== 'https:')) throw new AddressRefused();
  return checkOutsideUrl(target.href, trustsOrigin);
}

function readDownload(response: Dispatcher.ResponseData, bytesMax: number, release: () => void): Download {
  const { body, headers, statusCode } = response;
  const announced = headers['content-length'];
  const bytes = typeof announced === 'string' && /^\d{1,15}$/.test(announced) ? Number(announced) : null;
  const encoding = headers['content-encoding'] ?? 'identity';
  const problem =
    encoding !== 'identity' ? 'unreadable' : bytes !== null && bytes > bytesMax ? 'too_large' : null;
  if (problem) {
    body.destroy();
    throw new DownloadFailed(problem);
  }
  const stream = Readable.from(limited(body, bytes, bytesMax), { objectMode: false });
  // A generator that was never started runs no `finally`, so the socket is released here.
  stream.once('close', () => {
    body.destroy();
    release();
  });
  return { status: statusCode, bytes, stream };
}

async function* limited(
  body: AsyncIterable<Buffer>,
  announced: number | null,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new DownloadFailed('too_large');
      yield chunk;
    }
  } catch (error) {
    throw asDownloadFailed(error);
  }
  if (announced !== null && bytes !== announced) throw new DownloadFailed('network');
}

function asDownloadFailed(error: unknown): DownloadFailed {
  return error instanceof DownloadFailed ? error : new DownloadFailed('network', error);
}
