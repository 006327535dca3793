// Posts bodies to foreign URLs: public addresses only, no redirect, limited in time and in what is read.
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { AddressRefused, checkOutsideUrl } from './address-guard.ts';
import { ReceiverAgent, type ReceiverAgentOptions, type ReceiverArgs } from './receiver-agent.ts';

export interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Who the body is for: connections are kept for the next one to the same. */
  receiver: string;
  /** Limit from the look-up of the name to the status of the answer. */
  timeoutMs: number;
  /** So much of the answer is read, and for so long. */
  answerBytesMax: number;
  answerMs: number;
  signal?: AbortSignal | undefined;
  /**
   * Called with an open connection, before a byte is written: calls `write` once, which resolves when the
   * request has been handed to the system, or answers without having called it, to send nothing. Called a
   * second time when a kept connection had been closed by the receiver and another one was opened.
   */
  beforeWrite: (write: () => Promise<void>) => Promise<void>;
}

/**
 * `answered`: with its status and the beginning of its body. `refused`: not a public address. `withheld`:
 * `beforeWrite` did not write. The others: nothing is known of what the receiver did.
 */
export type PostOutcome =
  | { kind: 'answered'; status: number; body: string }
  | { kind: 'address_refused' | 'timeout' | 'unreachable' }
  | { kind: 'withheld' };

/** Posts once. Never throws, except what `beforeWrite` threw before it wrote. */
export type PostOutside = (url: string, options: PostOptions) => Promise<PostOutcome>;

/** How undici's connectors say that a connection did not come about in time. */
const CONNECT_TIMEOUT_CODE = 'UND_ERR_CONNECT_TIMEOUT';
/** Turns of the event loop in which a request has surely been written. */
const WRITE_TURNS_MAX = 100;

/** Makes a function that keeps connections of its own. */
export function createPostOutside(options: Omit<ReceiverAgentOptions, 'keeps'>): PostOutside {
  const keeping = new ReceiverAgent({ ...options, keeps: true });
  const opening = new ReceiverAgent({ ...options, keeps: false });
  return async (text, post) => {
    const url = readUrl(text, options.trustsOrigin);
    if (!url) return { kind: 'address_refused' };
    const cut = new AbortController();
    const abort = (): void => cut.abort();
    const timer = setTimeout(() => cut.abort('timeout'), post.timeoutMs);
    post.signal?.addEventListener('abort', abort);
    try {
      if (post.signal?.aborted) return { kind: 'unreachable' };
      const posted =
        (await postBy(keeping, url, post, cut.signal)) ?? (await postBy(opening, url, post, cut.signal));
      return posted ?? { kind: 'unreachable' };
    } finally {
      clearTimeout(timer);
      post.signal?.removeEventListener('abort', abort);
    }
  };
}

function readUrl(text: string, trustsOrigin: (url: URL) => boolean): URL | null {
  try {
    return checkOutsideUrl(text, trustsOrigin);
  } catch {
    return null;
  }
}

/**
 * Posts over a connection of this agent. Null: it was a kept one and broke without an answer, so that the
 * receiver may have closed it before the request came.
 */
async function postBy(
  agent: ReceiverAgent,
  url: URL,
  post: PostOptions,
  cut: AbortSignal,
): Promise<PostOutcome | null> {
  const req = openRequest(agent, url, post);
  const answer = answerOf(req, cut);
  const read = async (response: IncomingMessage): Promise<PostOutcome> => {
    const body = await readBeginning(response, post);
    return { kind: 'answered', status: response.statusCode ?? 0, body };
  };
  const fail = (error: unknown): PostOutcome | null => {
    if (error instanceof AddressRefused) return { kind: 'address_refused' };
    if (req.reusedSocket && !cut.aborted) return null;
    return { kind: cut.reason === 'timeout' || isConnectTimeout(error) ? 'timeout' : 'unreachable' };
  };
  try {
    const socket = await socketOf(req, answer);
    if (socket && !(await writeHeld(req, socket, post))) return { kind: 'withheld' };
    return await answer.then(read, fail);
  } finally {
    req.destroy(); // nothing happens to one whose answer was read to its end: its connection is kept
  }
}

function openRequest(
  agent: ReceiverAgent,
  url: URL,
  { headers, body, receiver }: PostOptions,
): ClientRequest {
  const own = { host: url.host, 'content-length': Buffer.byteLength(body) };
  const path = url.pathname + url.search;
  const args: ReceiverArgs = { agent, url, receiver, method: 'POST', path, headers: { ...headers, ...own } };
  return request(args);
}

/** The answer. Rejects when no connection comes about, when it breaks, and when `cut` is aborted. */
function answerOf(req: ClientRequest, cut: AbortSignal): Promise<IncomingMessage> {
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    req.on('error', reject);
    req.once('close', () => reject(new Error('there was no answer')));
    cut.addEventListener('abort', () => {
      reject(new Error('the attempt was cut'));
      req.destroy();
    });
  });
  answer.catch(() => undefined); // it is awaited later
  return answer;
}

/** The open connection of a request; null when none comes about, and `answer` says why. */
async function socketOf(req: ClientRequest, answer: Promise<unknown>): Promise<Socket | null> {
  const open = new Promise<Socket>((resolve) => {
    req.once('socket', resolve);
  });
  return Promise.race([open, answer.then(nothing, nothing)]);
}

const nothing = (): null => null;

/** Writes while `beforeWrite` holds; false when it did not. Throws what it threw before it wrote. */
async function writeHeld(
  req: ClientRequest,
  socket: Socket,
  { body, beforeWrite }: PostOptions,
): Promise<boolean> {
  let isWritten = false;
  const write = async (): Promise<void> => {
    isWritten = true;
    const before = socket.bytesWritten;
    req.end(body);
    await handedOver(socket, before);
  };
  try {
    await beforeWrite(write);
  } catch (error) {
    if (!isWritten) throw error;
  }
  return isWritten;
}

/** Resolves when the request is with the system, or will never be. */
async function handedOver(socket: Socket, before: number): Promise<void> {
  for (
    let turns = 0;
    turns < WRITE_TURNS_MAX && socket.bytesWritten === before && !socket.destroyed;
    turns += 1
  )
    await setImmediate();
}

/** The beginning of an answer. A body that breaks off, lies about its length or never ends is no failure. */
function readBeginning(
  response: IncomingMessage,
  { answerBytesMax, answerMs }: PostOptions,
): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => {
      response.destroy();
      end(); // one that was destroyed already says nothing more
    }, answerMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    finished(response, end); // at once where it broke off before its request was written
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, answerBytesMax - bytes));
      bytes += chunk.length;
      if (bytes >= answerBytesMax) response.destroy();
    });
  });
}

function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CONNECT_TIMEOUT_CODE;
}
