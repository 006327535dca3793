// Whether work takes time linear in the length of a text made of one piece, repeated.

/** The two lengths that are compared, in UTF-16 code units. */
const SHORT_LENGTH = 4_096;
const LONG_LENGTH = 16_384;
/** Four times the length: linear work takes four times as long, quadratic work sixteen times. */
const RATIO_MAX = 9;
/** Below it, the ratio is noise, and the work is fast enough whatever the ratio. */
const HARMLESS_MS = 4;
/** A shorter time of the short text is noise. */
const SHORT_MS_MIN = 0.5;
const RUNS_MAX = 12;

/**
 * Null when the work is linear in texts of this piece, else what was measured. Measures once, and only what
 * looks slow again, the best of several runs, since the machine may be busy.
 */
export function findSlowness(work: (text: string) => unknown, piece: string): string | null {
  const short = repeatTo(piece, SHORT_LENGTH);
  if (msOf(work, short) < HARMLESS_MS / 4) return null;
  const long = repeatTo(piece, LONG_LENGTH);
  let shortMs = Number.POSITIVE_INFINITY;
  let longMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS_MAX; run += 1) {
    shortMs = Math.min(shortMs, msOf(work, short));
    longMs = Math.min(longMs, msOf(work, long));
    if (longMs < HARMLESS_MS || longMs < Math.max(shortMs, SHORT_MS_MIN) * RATIO_MAX) return null;
  }
  const measured = `${shortMs.toFixed(1)} ms, four times as much ${longMs.toFixed(1)} ms`;
  return `${JSON.stringify(piece)}: ${measured}`;
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
