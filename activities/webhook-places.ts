// The places of later attempts in this process: shared, so that receivers that hang keep no other user's
// deliveries waiting.
import { FairShare, type Release } from '../providers/http/fair-share.ts';

const PER_ENDPOINT_MAX = 10;
/** Those beyond come back one after the other, so far apart and no later: each return costs Temporal. */
const TURN_MS = 500;
const TURN_MS_MAX = 300_000;
/** When it is not the endpoint that has too many, but its user. */
const SHARE_RETRY_MS = 5_000;

/** A place, to be given back, or how long to stay away. */
export type Place = { kind: 'taken'; release: Release } | { kind: 'none'; retryMs: number };

export class AttemptPlaces {
  readonly #share: FairShare;
  readonly #endpoints = new Map<string, { underWay: number; lastTurnAt: number }>();

  constructor(max: number) {
    this.#share = new FairShare(max);
  }

  /** A place for an attempt to this endpoint, if its user's share and its own permit one at this time. */
  take({ id, userId }: { id: string; userId: string }, nowMs: number): Place {
    const endpoint = this.#endpoints.get(id) ?? { underWay: 0, lastTurnAt: 0 };
    if (endpoint.underWay >= PER_ENDPOINT_MAX) {
      const turnAt = Math.max(endpoint.lastTurnAt, nowMs) + TURN_MS;
      endpoint.lastTurnAt = Math.min(turnAt, nowMs + TURN_MS_MAX);
      return { kind: 'none', retryMs: endpoint.lastTurnAt - nowMs };
    }
    const release = this.#share.tryTake(userId);
    if (!release) return { kind: 'none', retryMs: SHARE_RETRY_MS };
    endpoint.underWay += 1;
    this.#endpoints.set(id, endpoint);
    return {
      kind: 'taken',
      release: () => {
        release();
        endpoint.underWay -= 1;
        if (endpoint.underWay === 0) this.#endpoints.delete(id);
      },
    };
  }
}
