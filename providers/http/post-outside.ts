// Posts a body to a foreign URL: public addresses only, no redirect, limited in time and in what is read.
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Agent, buildConnector, request } from 'undici';
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
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
/** Turns of the event loop in which undici has surely written. */
const WRITE_TURNS_MAX = 100;

/** `beforeWrite` did not write. */
class Withheld extends Error {}

/** Posts once. Never throws, except what `beforeWrite` threw before it wrote. */
export async function postOutside(text: string, options: PostOptions): Promise<PostOutcome> {
  const { headers, body, timeoutMs } = options;
  const timeLimit = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeLimit]) : timeLimit;
  const gate: Gate = { beforeWrite: options.beforeWrite, failure: null };
  let agent: Agent | null = null;
  try {
    const url = checkOutsideUrl(text, options.trustsOrigin);
    const connect = options.trustsOrigin(url)
      ? connectPlainly
      : guardedConnector(options.resolve, options.connect);
    agent = new Agent({ connect: gatedConnector(connect, gate), pipelining: 0 });
    const response = await request(url, {
      ...{ dispatcher: agent, method: 'POST', headers, body, signal },
      ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
    });
    const beginning = await readBeginning(response.body, options);
    return { kind: 'answered', status: response.statusCode, body: beginning };
  } catch (error) {
    if (gate.failure) throw gate.failure.cause;
    if (error instanceof AddressRefused) return { kind: 'address_refused' };
    if (error instanceof Withheld) return { kind: 'withheld' };
    return { kind: timeLimit.aborted || isTimeout(error) ? 'timeout' : 'unreachable' };
  } finally {
    agent?.destroy().catch(() => undefined);
  }
}

interface Gate {
  beforeWrite: PostOptions['beforeWrite'];
  /** Set when `beforeWrite` threw before it wrote. */
  failure: { cause: unknown } | null;
}

const connectPlainly = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

/** Hands a socket to undici, which writes at once, while `beforeWrite` holds. One request for each socket. */
function gatedConnector(connect: buildConnector.connector, gate: Gate): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error) return callback(error, null);
      let isWritten = false;
      const giveUp = (reason: Error): void => {
        if (isWritten) return;
        socket.destroy();
        callback(reason, null);
      };
      const write = async (): Promise<void> => {
        isWritten = true;
        callback(null, socket);
        await handedOver(socket);
      };
      gate.beforeWrite(write).then(
        () => giveUp(new Withheld()),
        (cause: unknown) => {
          if (!isWritten) gate.failure = { cause };
          giveUp(new Withheld());
        },
      );
    });
  };
}

/** Resolves when the request is with the system, or will never be. */
async function handedOver(socket: Socket): Promise<void> {
  for (let turns = 0; turns < WRITE_TURNS_MAX && socket.bytesWritten === 0 && !socket.destroyed; turns += 1)
    await setImmediate();
}

/** The beginning of an answer. A body that breaks off, lies about its length or never ends is no failure. */
async function readBeginning(
  body: AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown },
  { answerBytesMax, answerMs }: PostOptions,
): Promise<string> {
  body.on('error', () => undefined);
  const timer = setTimeout(() => body.destroy(), answerMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
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

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TIMEOUT_CODES.has(String(error.code));
}
