// Whether work takes time linear in the length of a text made of one piece, repeated.

/**
 * What takes less at this length stays below 130 ms at 64 KiB even if it is quadratic, and is not looked at.
 */
const SCREENED_LENGTH = 8_192;
const SCREENED_MS = 2;
/**
 * Pairs of lengths that are compared, one after the other: linear work takes 16 and then 4 times as long,
 * quadratic work 256 and then 16 times. A stall of the machine takes about as long at each length: the second
 * pair tells it from slow work.
 */
const STEPS = [
  { shortLength: 1_000, longLength: 16_000, ratioMax: 64 },
  { shortLength: 16_000, longLength: 64_000, ratioMax: 8 },
] as const;
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
  const steps: string[] = [];
  for (const step of STEPS) {
    const measured = findSteepness(work, piece, step);
    if (measured === null) return null;
    steps.push(measured);
  }
  return `${JSON.stringify(piece)}: ${steps.join('; ')}`;
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

/** Null as soon as the best times of both lengths are in proportion, else these times. */
function findSteepness(
  work: (text: string) => unknown,
  piece: string,
  { shortLength, longLength, ratioMax }: (typeof STEPS)[number],
): string | null {
  const short = repeatTo(piece, shortLength);
  const long = repeatTo(piece, longLength);
  let shortMs = Number.POSITIVE_INFINITY;
  let longMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS_MAX; run += 1) {
    shortMs = Math.min(shortMs, msOf(work, short));
    longMs = Math.min(longMs, msOf(work, long));
    if (longMs < LONG_MS_MIN || longMs < Math.max(shortMs, SHORT_MS_MIN) * ratioMax) return null;
  }
  return `${shortMs.toFixed(1)} ms, ${longLength / shortLength} times as much ${longMs.toFixed(1)} ms`;
}
