// Times of calls whose delay is asserted. What is asserted delays most calls, a machine that is busy for a
// moment one of them: the middle one of several is held against the limit.

const CALLS = 3;

/** Milliseconds that the call takes. */
export async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

/** Milliseconds of the middle one of several calls, one after another. */
export async function usualTimeOf(call: () => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  while (timesMs.length < CALLS) timesMs.push(await timeOf(call));
  return medianOf(timesMs);
}

/** The middle one of these times, in milliseconds. */
export function medianOf(timesMs: readonly number[]): number {
  return timesMs.toSorted((one, other) => one - other)[Math.floor(timesMs.length / 2)] ?? 0;
}
