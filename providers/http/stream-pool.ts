// The connections to chat upstreams: kept open, limited for each upstream, and shared fairly among users.
import { Agent } from 'undici';
import { GatewayError } from '../../domain/errors.ts';
import { connectWithReason } from './client.ts';
import { FairShare, type FairShareLoad, type Release } from './fair-share.ts';

/** Longest wait for a connection; by then the users who hold them would have to let go of theirs. */
const CONNECTION_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

export class StreamPool {
  /** Opening a connection costs more than the rest of a call, so connections are kept. */
  readonly agent: Agent;
  readonly #connectionsMax: number;
  readonly #shares = new Map<string, FairShare>();

  /** Connects nowhere yet. `connectionsMax`: connections to each upstream. */
  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    this.agent = new Agent({ connect: connectWithReason, connections: connectionsMax, pipelining: 1 });
  }

  /** The connections in use and the calls that wait for one, of all upstreams. */
  get load(): FairShareLoad {
    const sum = { taken: 0, waiting: 0 };
    for (const { load } of this.#shares.values()) {
      sum.taken += load.taken;
      sum.waiting += load.waiting;
    }
    return sum;
  }

  /**
   * A connection's place: at once, or once the user's share permits one. Throws `overloaded` after a time,
   * and the reason of `signal` when it is aborted before.
   */
  take(origin: string, userId: string, signal: AbortSignal): Release | Promise<Release> {
    const share = this.#shareOf(origin);
    return share.tryTake(userId) ?? this.#wait(share, userId, signal);
  }

  async #wait(share: FairShare, userId: string, signal: AbortSignal): Promise<Release> {
    const timeLimit = AbortSignal.timeout(CONNECTION_WAIT_MS);
    try {
      return await share.take(userId, AbortSignal.any([signal, timeLimit]));
    } catch (error) {
      if (!timeLimit.aborted || signal.aborted) throw error;
      const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
      throw new GatewayError('overloaded', { headers, cause: error });
    }
  }

  #shareOf(origin: string): FairShare {
    const share = this.#shares.get(origin) ?? new FairShare(this.#connectionsMax);
    this.#shares.set(origin, share);
    return share;
  }
}
