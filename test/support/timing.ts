// Times of calls whose delay is asserted. What is asserted delays each call, and a busy machine only some of
// them: the fastest of several is held against the limit.

const CALLS = 3;

/** Milliseconds that the call takes. */
export async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

/** Milliseconds of the fastest of several calls, one after another. */
export async function fastestOf(call: () => Promise<unknown>): Promise<number> {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let calls = 0; calls < CALLS; calls += 1) fastestMs = Math.min(fastestMs, await timeOf(call));
  return fastestMs;
}

/** The middle one of these times, in milliseconds. */
export function medianOf(timesMs: readonly number[]): number {
  return timesMs.toSorted((one, other) => one - other)[Math.floor(timesMs.length / 2)] ?? 0;
}
