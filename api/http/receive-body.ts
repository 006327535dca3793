// Receives the body of a request: inflates it, and ends it at the first byte that is too much.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '../../domain/errors.ts';

export interface BodyLimits {
  /** Size limit of a body that is not compressed. */
  bytesMax: number;
  /** Size limit of a compressed body, unpacked: a small body could grow a thousandfold. */
  inflatedBytesMax: number;
}

/**
 * Called for every chunk, inflated, with the bytes received so far; throws what is wrong with the body as far
 * as it has come. No more is read until the promise that it may answer is resolved.
 */
export type CheckChunk = (chunk: Buffer, received: number) => void | Promise<void>;

const INFLATERS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;
const CHUNK_BYTES = 64 * 1024;
/** Less is not worth the call. */
const FREED_BYTES_MIN = 4 * 1024;
const BADLY_COMPRESSED = {
  message: 'The body is not compressed as its Content-Encoding says, or broke off.',
};

/** The error of a body of more bytes than its route takes. */
export function tooLarge(bytesMax: number): GatewayError {
  const message = `The request body may have at most ${bytesMax / 1024 ** 2} MiB.`;
  return new GatewayError('payload_too_large', { message });
}

/** The encoding of a body, or null for one that is not read. */
export function encodingOf({ headers }: IncomingMessage): keyof typeof INFLATERS | 'identity' | null {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  return encoding === 'identity' || isInflated(encoding) ? encoding : null;
}

/**
 * Receives the whole body. Throws a GatewayError: `payload_too_large` beyond the limit, `invalid_request`
 * for one that breaks off or is not compressed as it claims, and what `check` throws. Of a body that is
 * refused the rest is discarded as it arrives, so that its sender can read the answer.
 */
export async function receiveBody(
  req: IncomingMessage,
  { bytesMax, inflatedBytesMax }: BodyLimits,
  check: CheckChunk,
): Promise<Buffer> {
  const encoding = encodingOf(req) ?? 'identity';
  const limit = encoding === 'identity' ? bytesMax : inflatedBytesMax;
  const source = encoding === 'identity' ? req : inflate(req, encoding);
  const body = collect(encoding === 'identity' ? Number(req.headers['content-length'] ?? 0) : 0);
  let bytes = 0;
  try {
    await readChunks(source, (chunk) => {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      const waiting = check(chunk, bytes);
      body.add(chunk);
      return waiting;
    });
  } catch (error) {
    body.drop();
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('invalid_request', { cause: error, ...(source !== req && BADLY_COMPRESSED) });
  } finally {
    if (source !== req) {
      req.unpipe();
      source.destroy();
    }
    if (!req.readableEnded) discardBody(req);
  }
  return body.take();
}

/** Discards what has come of a body and is not read, and what still comes. */
export function discardBody(req: IncomingMessage): void {
  req.off('data', freeMemory).on('data', freeMemory);
}

/**
 * Gives the memory of a body or of a chunk back at once; from then on it is empty. One that is short, or
 * shares its memory, stays as it is. V8 would free it when it collects garbage, which a process that has
 * nothing to do puts off for ever, and one that discards thousands of chunks does too late.
 */
export function freeMemory(bytes: Buffer): void {
  const { buffer } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length;
  if (isOwn && bytes.length >= FREED_BYTES_MIN) buffer.transfer(0);
}

interface Collected {
  add(chunk: Buffer): void;
  take(): Buffer;
  /** Gives back what was collected. */
  drop(): void;
}

/**
 * Collects chunks; a long body of known length in one buffer, 0 being unknown. As pieces of 64 KiB a hundred
 * slow bodies keep the process busy collecting garbage, and the memory between them is not given back.
 */
function collect(length: number): Collected {
  if (length <= CHUNK_BYTES) {
    const chunks: Buffer[] = [];
    return {
      add: (chunk) => void chunks.push(chunk),
      take: () => (chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)),
      drop: () => void chunks.splice(0),
    };
  }
  const whole = Buffer.allocUnsafeSlow(length); // memory is used as it is written
  let end = 0;
  return {
    add: (chunk) => {
      end += chunk.copy(whole, end);
      freeMemory(chunk);
    },
    take: () => whole.subarray(0, end),
    drop: () => freeMemory(whole),
  };
}

/**
 * Gives each chunk to `take`, and nothing more while it waits. Rejects when the source breaks off, and with
 * what `take` throws. With listeners: an iterator costs more than a short body.
 */
function readChunks(source: Readable, take: (chunk: Buffer) => void | Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let taken = Promise.resolve();
  const stop = (): void => {
    source.off('data', read).off('end', end).off('error', fail).off('close', breakOff);
  };
  const fail = (error: unknown): void => {
    stop();
    reject(error);
  };
  const breakOff = (): void => fail(source.errored ?? new Error('the body broke off'));
  const end = (): void => {
    stop();
    resolve(taken);
  };
  const read = (chunk: Buffer): void => {
    try {
      const waiting = take(chunk);
      if (waiting) waitFor(waiting);
    } catch (error) {
      fail(error);
    }
  };
  const waitFor = (waiting: Promise<void>): void => {
    source.pause();
    taken = waiting.then(() => void source.resume(), fail);
  };
  if (source.destroyed) breakOff();
  else source.on('data', read).once('end', end).once('error', fail).once('close', breakOff);
  return promise;
}

function inflate(req: IncomingMessage, encoding: keyof typeof INFLATERS): Readable {
  const inflater = INFLATERS[encoding]({ chunkSize: CHUNK_BYTES });
  inflater.on('error', () => undefined); // also after the reader has left
  req.once('error', (error) => inflater.destroy(error));
  return req.pipe(inflater);
}

function isInflated(encoding: string): encoding is keyof typeof INFLATERS {
  return Object.hasOwn(INFLATERS, encoding);
}
