// Runs work at a concurrency, and measures how long it takes.

export interface Measured {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** Runs `total` pieces of work, `concurrency` at a time, and measures each of them. */
export async function measure(
  total: number,
  concurrency: number,
  work: () => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  let started = 0;
  const beganAt = performance.now();
  const runner = async (): Promise<void> => {
    while (started < total) {
      started += 1;
      const startedAt = performance.now();
      await work();
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  const seconds = (performance.now() - beganAt) / 1000;
  return { perSecond: total / seconds, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

/** Returns the middle one of several rounds, by throughput. */
export function middle(rounds: readonly Measured[]): Measured {
  const sorted = [...rounds].sort((one, other) => one.perSecond - other.perSecond);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (!found) throw new Error('nothing was measured');
  return found;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Prints rows in columns that line up. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const [index, row] of rows.entries()) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
    if (index === 0) console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  }
}
