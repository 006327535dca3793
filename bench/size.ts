// The size of a bench: `full` for figures that are published, `small` for a look within minutes.

const SIZES = ['full', 'small'] as const;
export type BenchSize = (typeof SIZES)[number];

/** The size that BENCH_SIZE names; `full` without it. Throws for another word. */
export const BENCH_SIZE: BenchSize = readSize(process.env['BENCH_SIZE'] || 'full');

/** Returns the value for the size of this run. */
export function bySize<Value>(values: Readonly<Record<BenchSize, Value>>): Value {
  return values[BENCH_SIZE];
}

function readSize(text: string): BenchSize {
  const size = SIZES.find((each) => each === text);
  if (size === undefined) throw new Error(`BENCH_SIZE is "${text}": it may be ${SIZES.join(' or ')}.`);
  return size;
}
