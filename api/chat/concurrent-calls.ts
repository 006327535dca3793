// Counts the chat calls under way in this process, for each user and together, and limits those of a user.
import { Tally } from '../../domain/tally.ts';

export class ConcurrentCalls {
  /** Calls that one user may have at once. */
  readonly perUserMax: number;
  readonly #byUser = new Tally();
  readonly #waitingForIdle = new Set<() => void>();
  #running = 0;

  constructor(perUserMax: number) {
    this.perUserMax = perUserMax;
  }

  get running(): number {
    return this.#running;
  }

  /**
   * Enters a call, and returns the function that ends it; null when the user has `ownMax` or more, or too
   * many.
   */
  enter(userId: string, ownMax: number = this.perUserMax): (() => void) | null {
    if (this.#byUser.of(userId) >= Math.min(ownMax, this.perUserMax)) return null;
    this.#byUser.add(userId, 1);
    this.#running += 1;
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#leave(userId);
      hasLeft = true;
    };
  }

  /**
   * Resolves when no call is under way, or after `limitMs`. Calls whose callers have left go on without a
   * connection, so closing the server does not wait for them.
   */
  async untilIdle(limitMs: number): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#waitingForIdle.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #leave(userId: string): void {
    this.#byUser.add(userId, -1);
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#waitingForIdle) resolve();
    this.#waitingForIdle.clear();
  }
}
