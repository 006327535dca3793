// Connections to foreign receivers: to checked addresses only, and kept for a moment for the next request.
import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { buildConnector } from 'undici';
import { guardedConnector, type Resolve } from './address-guard.ts';

/** A request with what its connection is for. */
export interface ReceiverArgs extends ClientRequestArgs {
  url: URL;
  /** Who the request goes to: a kept connection takes requests to the same one, at the same origin. */
  receiver: string;
}

export interface ReceiverAgentOptions {
  /** Whether this origin may be local and without TLS. */
  trustsOrigin: (url: URL) => boolean;
  /** Whether a connection takes another request after its first. */
  keeps: boolean;
  /** Replaces the name look-up in tests. */
  resolve?: Resolve | undefined;
  /** Replaces the opening of sockets in tests. */
  connect?: buildConnector.connector | undefined;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Kept without a request for so long: less than the 5 seconds after which Node's and other servers close. */
const IDLE_MS = 4_000;
/** From its opening, so that a name that leads elsewhere is noticed. */
const LIFE_MS = 60_000;
const IDLE_PER_RECEIVER_MAX = 10;
const IDLE_MAX = 500;

const connectPlainly = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
/** One for all, so that a receiver's TLS sessions are resumed. */
const connectGuarded = guardedConnector();

/**
 * An agent for `http.request`, with `ReceiverArgs`. A name is looked up and its addresses are checked when a
 * connection is opened; a kept one leads to the address that was checked then.
 */
export class ReceiverAgent extends Agent {
  readonly #trustsOrigin: (url: URL) => boolean;
  readonly #connectGuarded: buildConnector.connector;
  readonly #openedAt = new WeakMap<Duplex, number>();
  readonly #idle = new Set<Duplex>();

  constructor({ trustsOrigin, keeps, resolve, connect }: ReceiverAgentOptions) {
    super({ keepAlive: keeps, maxFreeSockets: IDLE_PER_RECEIVER_MAX, timeout: IDLE_MS });
    this.#trustsOrigin = trustsOrigin;
    this.#connectGuarded = resolve || connect ? guardedConnector(resolve, connect) : connectGuarded;
  }

  override getName(args?: ReceiverArgs): string {
    return args ? `${args.receiver} ${args.url.origin}` : '';
  }

  /** Answers through `callback` alone, when the connection is open. */
  override createConnection(
    { url }: ReceiverArgs,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const connect = this.#trustsOrigin(url) ? connectPlainly : this.#connectGuarded;
    const { protocol, host } = url;
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = url.port || (protocol === 'https:' ? '443' : '80');
    connect({ protocol, host, hostname, port }, (...outcome) => {
      const [error, socket] = outcome;
      if (!socket) return callback(error);
      this.#openedAt.set(socket, performance.now());
      socket.once('close', () => this.#idle.delete(socket));
      callback(null, socket);
    });
  }

  /** Whether a connection whose request has ended is kept. Node asks it with the socket, and obeys. */
  override keepSocketAlive(socket: Duplex): boolean {
    const ageMs = performance.now() - (this.#openedAt.get(socket) ?? 0);
    if (ageMs > LIFE_MS || this.#idle.size >= IDLE_MAX) return false;
    const agreed: unknown = super.keepSocketAlive(socket); // false where the receiver announced to close it
    if (agreed === false) return false;
    this.#idle.add(socket);
    return true;
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.#idle.delete(socket);
    super.reuseSocket(socket, request);
  }
}
