// Whether work takes time linear in the length of a text made of one piece, repeated.

/**
 * What takes less at this length stays below 130 ms at 64 KiB even if it is quadratic, and is not looked at.
 */
const SCREENED_LENGTH = 8_192;
const SCREENED_MS = 2;
/** The two lengths that are compared: linear work takes 16 times as long, quadratic work 256 times. */
const SHORT_LENGTH = 1_024;
const LONG_LENGTH = 16_384;
const RATIO_MAX = 64;
/** Below them, a measured time is noise. */
const SHORT_MS_MIN = 0.1;
const LONG_MS_MIN = 15;
const RUNS_MAX = 8;

/**
 * Null when the work is linear in texts of this piece, else what was measured. Measures once, and only what
 * looks slow again, the best of several runs, since the machine may be busy.
 */
export function findSlowness(work: (text: string) => unknown, piece: string): string | null {
  if (msOf(work, repeatTo(piece, SCREENED_LENGTH)) < SCREENED_MS) return null;
  const short = repeatTo(piece, SHORT_LENGTH);
  const long = repeatTo(piece, LONG_LENGTH);
  let shortMs = Number.POSITIVE_INFINITY;
  let longMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS_MAX; run += 1) {
    shortMs = Math.min(shortMs, msOf(work, short));
    longMs = Math.min(longMs, msOf(work, long));
    if (longMs < LONG_MS_MIN || longMs < Math.max(shortMs, SHORT_MS_MIN) * RATIO_MAX) return null;
  }
  const times = LONG_LENGTH / SHORT_LENGTH;
  return `${JSON.stringify(piece)}: ${shortMs.toFixed(1)} ms, ${times} times as much ${longMs.toFixed(1)} ms`;
}

export function repeatTo(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length));
}

/** Wall time: the processor time of a thread is too coarse on some machines. */
export function msOf(work: (text: string) => unknown, text: string): number {
  const startedAt = performance.now();
  work(text);
  return performance.now() - startedAt;
}
