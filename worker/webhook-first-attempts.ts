// The first attempts that this process has under way: whose they are, and whose have to wait.
import type { Attempted } from '../activities/webhook-attempts.ts';
import type { WebhookEndpoint } from '../db/entities/webhooks.ts';

/**
 * For so long an endpoint gets nothing after an attempt that failed as the one before did: each such delivery
 * becomes a run, and a receiver that is back is noticed soon enough.
 */
const REST_MS = 1_000;

export class FirstAttempts {
  readonly #max: number;
  readonly #all = new Set<Promise<void>>();
  readonly #byUser = new Map<string, number>();
  readonly #resting = new Set<string>();

  /** `max`: under way at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /** How many may begin with one claim: half of the free places, so that the next user finds some as well. */
  get claimMax(): number {
    return Math.ceil(this.#free / 2);
  }

  /**
   * Who is left out of the next claim: users who have as many under way as are free, as in `FairShare`, and
   * endpoints that rest. However many receivers hang, the deliveries of another user thus find a place.
   */
  findLeftOut(): { userIds: string[]; endpointIds: string[] } {
    const userIds = [...this.#byUser].filter(([, count]) => count >= this.#free).map(([userId]) => userId);
    return { userIds, endpointIds: [...this.#resting] };
  }

  /** Counts an attempt until it has ended; the promise of its end never rejects. */
  add(
    endpoint: Pick<WebhookEndpoint, 'id' | 'userId' | 'failingSince'>,
    attempted: Promise<Attempted | null>,
  ): Promise<void> {
    const { userId } = endpoint;
    this.#count(userId, 1);
    const end = attempted.then((outcome) => {
      this.#count(userId, -1);
      this.#all.delete(end);
      if (outcome?.kind === 'retry' && endpoint.failingSince !== null) this.#rest(endpoint.id);
    });
    this.#all.add(end);
    return end;
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    await Promise.all(this.#all);
  }

  get #free(): number {
    return this.#max - this.#all.size;
  }

  #count(userId: string, by: 1 | -1): void {
    const count = (this.#byUser.get(userId) ?? 0) + by;
    if (count > 0) this.#byUser.set(userId, count);
    else this.#byUser.delete(userId);
  }

  #rest(endpointId: string): void {
    this.#resting.add(endpointId);
    setTimeout(() => this.#resting.delete(endpointId), REST_MS).unref();
  }
}
