// The one line of this process for reading the prompts that are counted: a bounded time of each round of the
// event loop.
//
// Two hundred streams that are left at once are counted at once; if each took its turn in every round, a
// round would take as long as all of them.

/** Time of reading in one round after which no further work begins in it. */
const ROUND_MS_MAX = 2;

const waiting: (() => void)[] = [];
/** Whether work waits, or was run in this round. */
let isServing = false;

/**
 * Runs `work`, which takes ten milliseconds at most, in its turn: at once if none waits and none was run in
 * this round, otherwise first come, first served. Rejects as `work` throws.
 */
export function inTurn<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
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

/** Runs at least one work, so that the line moves whatever else a round is full of. */
function serveRound(): void {
  isServing = waiting.length > 0;
  if (!isServing) return;
  setImmediate(serveRound);
  const endsAt = performance.now() + ROUND_MS_MAX;
  do waiting.shift()?.();
  while (waiting.length > 0 && performance.now() < endsAt);
}
