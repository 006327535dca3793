// Answers to a request, good and bad, as data, and the one function that writes them to the connection.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export type WholeAnswer = Content & { readonly kind: 'whole' };

export interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/**
 * `whole`: all bytes at once. `cut`: half of what Content-Length promises, then the connection breaks.
 * `trickle`: all bytes, over SLOW_ANSWER_MS. `endless`: the bytes, then filler until the client disconnects.
 * `stream`: pieces as they come, never faster than the client reads. `hang`: not a single byte.
 * `reset`: the connection breaks unanswered.
 */
export type Answer =
  | ({ readonly kind: 'whole' | 'cut' | 'trickle' } & Content)
  | ({ readonly kind: 'endless'; readonly filler: string } & Content)
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly pieces: AsyncIterable<string>;
      /** True: the connection breaks after the last piece. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' };

const SLOW_ANSWER_MS = 20_000;
const SLOW_PIECES = 100;
const ENDLESS_PIECE_BYTES = 64 * 1024;
/** Limits an endless answer to about 6 MB/s, so that it does not occupy a whole processor. */
const ENDLESS_PAUSE_MS = 10;

/** Thrown by a handler to end the request with this answer. */
export class EarlyAnswer extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('answered early');
    this.answer = answer;
  }
}

export function whole(status: number, type: string, body: string | Buffer): WholeAnswer {
  return { kind: 'whole', status, headers: { 'content-type': type }, bytes: Buffer.from(body) };
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WholeAnswer {
  const content = whole(status, 'application/json', JSON.stringify(body));
  return { ...content, headers: { ...content.headers, ...headers } };
}

/** HTML page as a proxy in front of a vendor would show it, where JSON or a file is expected. */
export function htmlPage(): WholeAnswer {
  const page = '<!doctype html><html><head><title>One moment</title></head><body>Checking…</body></html>';
  return whole(200, 'text/html; charset=utf-8', page);
}

export function redirect(location: string): WholeAnswer {
  return { kind: 'whole', status: 302, headers: { location }, bytes: Buffer.alloc(0) };
}

/**
 * Writes the answer; resolves when it is complete or broken off, for `hang` at once.
 * `onBreak` is called just before the sandbox itself breaks the connection.
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
