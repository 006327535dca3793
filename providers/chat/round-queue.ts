// A queue for short work that would hold the event loop up if much of it came at once.

/** Time of work in one round of the event loop after which no further work begins in it. */
const ROUND_MS_MAX = 2;

/**
 * Runs `work`, which takes ten milliseconds at most, in its turn: at once if none waits and none was run in
 * this round, otherwise first come, first served. Rejects as `work` throws.
 */
export type RoundQueue = <Result>(work: () => Result) => Promise<Result>;

/**
 * All work of a queue shares the time of a round. If each took a turn of its own in every round, a round
 * would take as long as all of them together.
 */
export function createRoundQueue(): RoundQueue {
  const waiting: (() => void)[] = [];
  /** Whether work waits, or was run in this round. */
  let isServing = false;

  /** Runs at least one work, so that the queue moves whatever else a round is full of. */
  function serveRound(): void {
    isServing = waiting.length > 0;
    if (!isServing) return;
    setImmediate(serveRound);
    const endsAt = performance.now() + ROUND_MS_MAX;
    do waiting.shift()?.();
    while (waiting.length > 0 && performance.now() < endsAt);
  }

  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (!isServing) serveRound();
    });
}
