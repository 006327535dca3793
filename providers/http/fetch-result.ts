// Opens the bytes of a finished result, inline or behind a URL.
import { Readable } from 'node:stream';
import type { JobHandle } from '../../domain/jobs.ts';
import { AddressRefused } from './address-guard.ts';
import { DownloadFailed, downloadFromOutside } from './download.ts';
import { UpstreamFailure, type Provider, type UpstreamResult } from '../provider.ts';

export interface FetchedResult {
  /** Fails with an UpstreamFailure, never with anything else. */
  stream: Readable;
  /** Size as announced, or null. */
  bytes: number | null;
}

export interface FetchOptions {
  /** Handle of the job whose result this is. */
  handle: JobHandle;
  bytesMax: number;
  signal?: AbortSignal | undefined;
  /** Limit of the whole download; tests shorten it. */
  timeoutMs?: number;
  /** Longest time without a byte; tests shorten it. */
  silenceMs?: number;
}

const RESULT_TIMEOUT_MS = 600_000;
const RESULT_SILENCE_MS = 30_000;
/** Storages answer 400, 401 or 403 to a signed link that has ended, 404 or 410 for a file that is gone. */
const EXPIRED_STATUSES = new Set([400, 401, 403, 404, 410]);

/**
 * Opens a result for reading. Throws an UpstreamFailure: `expired` when it is gone or its link has ended,
 * `transient` for network errors (they may be tried again, since a download hands over no work),
 * `invalid_response` for what cannot be a result. The kind of the file is not checked.
 */
export async function fetchResult(
  provider: Provider,
  result: UpstreamResult,
  options: FetchOptions,
): Promise<FetchedResult> {
  switch (result.kind) {
    case 'inline':
      return readInline(result.bytes, options.bytesMax);
    case 'text':
      return readInline(Buffer.from(result.text), options.bytesMax);
    case 'url':
      return readUrl(provider, result.url, options);
    case 'guarded_url':
      return readUrl(provider, result.url, options, await provider.downloadHeaders?.(options.handle));
  }
}

function readInline(bytes: Uint8Array, bytesMax: number): FetchedResult {
  if (bytes.length > bytesMax) throw new UpstreamFailure('invalid_response', 'refused');
  return { stream: Readable.from([bytes], { objectMode: false }), bytes: bytes.length };
}

async function readUrl(
  provider: Provider,
  url: string,
  options: FetchOptions,
  headers?: Readonly<Record<string, string>>,
): Promise<FetchedResult> {
  const download = await downloadFromOutside(url, {
    trustsOrigin: (candidate) => provider.trustsOrigin(candidate),
    headers,
    bytesMax: options.bytesMax,
    timeoutMs: options.timeoutMs ?? RESULT_TIMEOUT_MS,
    silenceMs: options.silenceMs ?? RESULT_SILENCE_MS,
    signal: options.signal,
  }).catch((error: unknown) => {
    throw failureOfDownload(error);
  });
  if (download.status !== 200) {
    download.stream.destroy();
    throw failureOfDownloadStatus(download.status);
  }
  const stream = Readable.from(translated(download.stream), { objectMode: false });
  stream.once('close', () => download.stream.destroy());
  return { stream, bytes: download.bytes };
}

async function* translated(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw failureOfDownload(error);
  }
}

function failureOfDownload(error: unknown): UpstreamFailure {
  const isRefused = error instanceof AddressRefused;
  const isBad = error instanceof DownloadFailed && error.reason !== 'network';
  if (isRefused || isBad) return new UpstreamFailure('invalid_response', 'refused', { cause: error });
  return new UpstreamFailure('transient', 'not_received', { cause: error });
}

function failureOfDownloadStatus(status: number): UpstreamFailure {
  if (EXPIRED_STATUSES.has(status)) return new UpstreamFailure('expired', 'refused');
  if (status === 408 || status === 429 || status >= 500)
    return new UpstreamFailure('transient', 'not_received');
  return new UpstreamFailure('invalid_response', 'refused');
}
