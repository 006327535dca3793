// Shares a limited number of places among holders, so that no holder can take them all from the others.
import { Tally } from '../../domain/tally.ts';

/** Gives a place back; further calls do nothing. */
export type Release = () => void;

interface Waiter {
  holder: string;
  grant: (release: Release) => void;
}

export interface FairShareLoad {
  taken: number;
  waiting: number;
}

/**
 * Hands out places by dynamic thresholds (Choudhury and Hahne, 1998): a holder may have as many as are still
 * free. One alone thus gets half of all, two get a third each, and a newcomer always finds a free place; none
 * is ever taken back. Those who wait are served by the fewest places held, then in order of arrival.
 */
export class FairShare {
  readonly #places: number;
  readonly #held = new Tally();
  readonly #waiters = new Set<Waiter>();
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get load(): FairShareLoad {
    return { taken: this.#taken, waiting: this.#waiters.size };
  }

  /** Takes a place at once; null when the holder has to wait for one. */
  tryTake(holder: string): Release | null {
    return this.#mayTake(holder) ? this.#take(holder) : null;
  }

  /** Resolves with a place. Rejects with the signal's reason when it is aborted before. */
  take(holder: string, signal: AbortSignal): Promise<Release> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const release = this.tryTake(holder);
    if (release) return Promise.resolve(release);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        reject(reasonOf(signal));
      };
      const grant = (granted: Release): void => {
        signal.removeEventListener('abort', leave);
        resolve(granted);
      };
      const waiter: Waiter = { holder, grant };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #mayTake(holder: string): boolean {
    return this.#held.of(holder) < this.#places - this.#taken;
  }

  #take(holder: string): Release {
    this.#change(holder, 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#change(holder, -1);
      if (this.#waiters.size > 0) this.#serveWaiters();
    };
  }

  #change(holder: string, by: 1 | -1): void {
    this.#held.add(holder, by);
    this.#taken += by;
  }

  #serveWaiters(): void {
    for (;;) {
      let next: Waiter | null = null;
      for (const waiter of this.#waiters)
        if (next === null || this.#held.of(waiter.holder) < this.#held.of(next.holder)) next = waiter;
      if (next === null || !this.#mayTake(next.holder)) return;
      this.#waiters.delete(next);
      next.grant(this.#take(next.holder));
    }
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted while waiting', { cause: reason });
}
