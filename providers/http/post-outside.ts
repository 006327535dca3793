// Posts a body to a foreign URL: public addresses only, no redirect, limited in time and in what is read.
import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { buildConnector } from 'undici';
import { AddressRefused, checkOutsideUrl, guardedConnector, type Resolve } from './address-guard.ts';

export interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether this origin may be local and without TLS. */
  trustsOrigin: (url: URL) => boolean;
  /** Limit from the look-up of the name to the status of the answer. */
  timeoutMs: number;
  /** So much of the answer is read, and for so long. */
  answerBytesMax: number;
  answerMs: number;
  signal?: AbortSignal | undefined;
  /**
   * Called with the open connection, before a byte is written: calls `write` once, which resolves when the
   * request has been handed to the system, or answers without having called it, to send nothing.
   */
  beforeWrite: (write: () => Promise<void>) => Promise<void>;
  /** Replaces the name look-up in tests. */
  resolve?: Resolve | undefined;
  /** Replaces the opening of sockets in tests. */
  connect?: buildConnector.connector | undefined;
}

/**
 * `answered`: with its status and the beginning of its body. `refused`: not a public address. `withheld`:
 * `beforeWrite` did not write. The others: nothing is known of what the receiver did.
 */
export type PostOutcome =
  | { kind: 'answered'; status: number; body: string }
  | { kind: 'address_refused' | 'timeout' | 'unreachable' }
  | { kind: 'withheld' };

const CONNECT_TIMEOUT_MS = 3_000;
/** How undici's connectors say that a connection did not come about in time. */
const CONNECT_TIMEOUT_CODE = 'UND_ERR_CONNECT_TIMEOUT';
/** Turns of the event loop in which a request has surely been written. */
const WRITE_TURNS_MAX = 100;

const connectPlainly = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
/** One for all, so that a receiver's TLS sessions are resumed. */
const connectGuarded = guardedConnector();

/** Posts once. Never throws, except what `beforeWrite` threw before it wrote. */
export async function postOutside(text: string, options: PostOptions): Promise<PostOutcome> {
  const timeLimit = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeLimit]) : timeLimit;
  const failed = (error: unknown): PostOutcome => {
    if (error instanceof AddressRefused) return { kind: 'address_refused' };
    return { kind: timeLimit.aborted || isConnectTimeout(error) ? 'timeout' : 'unreachable' };
  };
  let socket: Socket;
  let url: URL;
  try {
    url = checkOutsideUrl(text, options.trustsOrigin);
    socket = await openSocket(url, options, signal);
  } catch (error) {
    return failed(error);
  }
  try {
    const sent = await writeHeld(url, socket, options, signal);
    if (!sent) return { kind: 'withheld' };
    try {
      const response = await sent.answer;
      const body = await readBeginning(response, options);
      return { kind: 'answered', status: response.statusCode ?? 0, body };
    } catch (error) {
      return failed(error);
    }
  } finally {
    socket.destroy();
  }
}

/** Opens a connection of its own. Rejects when `signal` is aborted; what opens after that is closed. */
function openSocket(
  url: URL,
  { trustsOrigin, resolve: lookUp, connect: opener }: PostOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const guarded = lookUp || opener ? guardedConnector(lookUp, opener) : connectGuarded;
  const connect = trustsOrigin(url) ? connectPlainly : guarded;
  const { protocol, host } = url;
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port || (protocol === 'https:' ? '443' : '80');
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('it took too long'));
    signal.addEventListener('abort', abort);
    connect({ protocol, host, hostname, port }, (...outcome) => {
      const [error, socket] = outcome;
      signal.removeEventListener('abort', abort);
      if (error) return reject(error);
      // A socket that breaks while nothing is asked of it yet: writing to it fails.
      socket.on('error', () => undefined);
      if (signal.aborted) socket.destroy();
      resolve(socket);
    });
  });
}

/** Writes while `beforeWrite` holds; the promise of the answer in a box, or null when nothing was written. */
async function writeHeld(
  url: URL,
  socket: Socket,
  options: PostOptions,
  signal: AbortSignal,
): Promise<{ answer: Promise<IncomingMessage> } | null> {
  let sent: { answer: Promise<IncomingMessage> } | null = null;
  const write = async (): Promise<void> => {
    sent = { answer: send(url, socket, options, signal) };
    sent.answer.catch(() => undefined); // it is awaited later
    await handedOver(socket);
  };
  try {
    await options.beforeWrite(write);
  } catch (error) {
    if (!sent) throw error;
  }
  return sent;
}

/** Sends the request on this socket, which takes no other. */
function send(
  url: URL,
  socket: Socket,
  { headers, body }: PostOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const own = { host: url.host, 'content-length': Buffer.byteLength(body), connection: 'close' };
    const req = request({
      ...{ method: 'POST', path: url.pathname + url.search, headers: { ...headers, ...own } },
      ...{ createConnection: () => socket, signal },
    });
    req.once('response', resolve);
    req.once('error', reject);
    req.once('close', () => reject(new Error('there was no answer')));
    req.end(body);
  });
}

/** Resolves when the request is with the system, or will never be. */
async function handedOver(socket: Socket): Promise<void> {
  for (let turns = 0; turns < WRITE_TURNS_MAX && socket.bytesWritten === 0 && !socket.destroyed; turns += 1)
    await setImmediate();
}

/** The beginning of an answer. A body that breaks off, lies about its length or never ends is no failure. */
async function readBeginning(
  body: IncomingMessage,
  { answerBytesMax, answerMs }: PostOptions,
): Promise<string> {
  body.on('error', () => undefined);
  const timer = setTimeout(() => body.destroy(), answerMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, answerBytesMax - bytes));
      bytes += chunk.length;
      if (bytes >= answerBytesMax) break;
    }
  } catch {
    // The status has told what counts.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CONNECT_TIMEOUT_CODE;
}
