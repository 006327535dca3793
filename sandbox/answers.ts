/** What a vendor can do with a request, good or bad, as data; and the one place that writes it to the wire. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/**
 * `cut`: a Content-Length that is not kept. `trickle`: all of it, over SLOW_ANSWER_MS. `endless`: the bytes,
 * then filler until the client goes. `stream`: pieces as they come, never faster than the client reads.
 * `hang`: never a byte. `reset`: the connection breaks without an answer.
 */
export type Answer =
  | ({ readonly kind: 'whole' | 'cut' | 'trickle' } & Content)
  | ({ readonly kind: 'endless'; readonly filler: string } & Content)
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly pieces: AsyncIterable<string>;
      /** The connection breaks after the last piece. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' };

const SLOW_ANSWER_MS = 20_000;
const SLOW_PIECES = 100;
const ENDLESS_PIECE_BYTES = 64 * 1024;
/** A pause between pieces keeps an endless answer from taking the whole processor (about 6 MB/s). */
const ENDLESS_PAUSE_MS = 10;

/** Thrown to end the handling of a request with an answer. */
export class EarlyAnswer extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('answered early');
    this.answer = answer;
  }
}

export function whole(status: number, type: string, body: string | Buffer): Content & { kind: 'whole' } {
  return { kind: 'whole', status, headers: { 'content-type': type }, bytes: Buffer.from(body) };
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Content & { kind: 'whole' } {
  const content = whole(status, 'application/json', JSON.stringify(body));
  return { ...content, headers: { ...content.headers, ...headers } };
}

/** A page as a proxy in front of a vendor shows it, where JSON or a file was expected. */
export function htmlPage(): Content & { kind: 'whole' } {
  const page = '<!doctype html><html><head><title>One moment</title></head><body>Checking…</body></html>';
  return whole(200, 'text/html; charset=utf-8', page);
}

export function redirect(location: string): Content & { kind: 'whole' } {
  return { kind: 'whole', status: 302, headers: { location }, bytes: Buffer.alloc(0) };
}

/**
 * Ends when the answer is complete, when it was broken off as ordered, or at once for one that never comes.
 * `onBreak` hears of an ordered break just before it happens.
 */
export async function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  onBreak: () => void = () => {},
): Promise<void> {
  const breakOff = (): void => {
    onBreak();
    res.destroy();
  };
  if (answer.kind === 'hang') return;
  if (answer.kind === 'reset') {
    onBreak();
    req.socket.resetAndDestroy();
    return;
  }
  if (answer.kind === 'stream') {
    res.writeHead(answer.status, answer.headers).flushHeaders();
    await pipeline(Readable.from(answer.pieces), res, { end: !answer.isCut });
    if (answer.isCut) res.write('', breakOff);
    return;
  }
  if (answer.kind === 'endless') {
    res.writeHead(answer.status, answer.headers);
    await pipeline(Readable.from(endlessPieces(answer.bytes, answer.filler)), res);
    return;
  }
  res.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.bytes.length) });
  if (answer.kind === 'whole') res.end(answer.bytes);
  if (answer.kind === 'cut') res.write(firstHalf(answer.bytes), breakOff);
  if (answer.kind === 'trickle') await pipeline(Readable.from(slowPieces(answer.bytes)), res);
}

export function firstHalf(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

async function* slowPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  const pieceBytes = Math.max(1, Math.ceil(bytes.length / SLOW_PIECES));
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
    await sleep(SLOW_ANSWER_MS / SLOW_PIECES);
  }
}

async function* endlessPieces(opening: Buffer, filler: string): AsyncGenerator<Buffer> {
  yield opening;
  const piece = Buffer.alloc(ENDLESS_PIECE_BYTES, filler);
  for (;;) {
    yield piece;
    await sleep(ENDLESS_PAUSE_MS);
  }
}
