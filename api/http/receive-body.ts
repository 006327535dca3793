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
  const length = Number(req.headers['content-length'] ?? 0);
  const encoding = encodingOf(req) ?? 'identity';
  if (encoding === 'identity' && length > 0 && length <= CHUNK_BYTES)
    return receiveShort(req, bytesMax, check);
  const limit = encoding === 'identity' ? bytesMax : inflatedBytesMax;
  const source = encoding === 'identity' ? req : inflate(req, encoding);
  const body = collect(encoding === 'identity' ? length : 0);
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(source)) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      const waiting = check(chunk, bytes);
      if (waiting) await waiting;
      body.add(chunk);
    }
  } catch (error) {
    body.drop();
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('invalid_request', { cause: error, ...(source !== req && BADLY_COMPRESSED) });
  } finally {
    if (source !== req) {
      req.unpipe();
      source.destroy();
    }
    req.resume();
  }
  return body.take();
}

/** Receives a body of a few pieces, with listeners: an iterator costs more than the body. */
function receiveShort(req: IncomingMessage, bytesMax: number, check: CheckChunk): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let looked = Promise.resolve();
  const stop = (): void => {
    req.off('data', take).off('end', end).off('error', fail).off('close', breakOff);
    req.resume();
  };
  const fail = (error: unknown): void => {
    stop();
    reject(error instanceof GatewayError ? error : new GatewayError('invalid_request', { cause: error }));
  };
  const breakOff = (): void => fail(req.errored ?? new Error('the body broke off'));
  const end = (): void => {
    stop();
    resolve(
      looked.then(() => (chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks))),
    );
  };
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    try {
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      const waiting = check(chunk, bytes);
      if (waiting) waitFor(waiting);
      chunks.push(chunk);
    } catch (error) {
      fail(error);
    }
  };
  const waitFor = (waiting: Promise<void>): void => {
    req.pause();
    looked = waiting.then(() => void req.resume(), fail);
  };
  if (req.destroyed) breakOff();
  else req.on('data', take).once('end', end).once('error', fail).once('close', breakOff);
  return promise;
}

/**
 * Gives the memory of a long body back at once; from then on it is empty. V8 would free it when it collects
 * garbage, which a process that has nothing to do puts off for ever.
 */
export function freeLongBody(bytes: Buffer): void {
  if (bytes.length > CHUNK_BYTES && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
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
    },
    take: () => whole.subarray(0, end),
    drop: () => freeLongBody(whole),
  };
}

/** Destroying the request would close its connection before the answer is sent. */
function chunksOf(source: Readable): AsyncIterable<Buffer> {
  return source.iterator({ destroyOnReturn: false });
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
