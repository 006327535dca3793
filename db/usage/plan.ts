// Which parts of a period are read from sums, and which from rows.
import { BUCKET_MS } from './rollup.ts';
import type { Period } from './sources.ts';

export interface Plan {
  /** Whole buckets: their sums, and the transfers that these do not have yet. Null where none is whole. */
  body: Period | null;
  /** Before and after it, where a bucket is only in part in the period: all from rows. */
  edges: Period[];
  /** Where ended tasks and calls are read from rows: the edges, and what ended after the watermark. */
  ends: Period[];
}

/**
 * Divides a period. `asOf` is the moment of the snapshot: a period that ends later has no edge at its end.
 * `until` is the watermark, null before the first carrying forward.
 */
export function planReading({ from, to }: Period, { asOf, until }: { asOf: Date; until: Date | null }): Plan {
  const isOpen = to === null || to > asOf;
  const first = new Date(Math.ceil(from.getTime() / BUCKET_MS) * BUCKET_MS);
  const last = isOpen ? null : new Date(Math.floor(to.getTime() / BUCKET_MS) * BUCKET_MS);
  if (last !== null && first >= last) return { body: null, edges: [{ from, to }], ends: [{ from, to }] };
  const body = { from: first, to: last };
  const edges = [{ from, to: first }, ...(last === null ? [] : [{ from: last, to }])].filter(isNotEmpty);
  const rest = { from: until !== null && until > first ? until : first, to: last };
  return { body, edges, ends: [...edges, rest].filter(isNotEmpty) };
}

function isNotEmpty({ from, to }: Period): boolean {
  return to === null || from < to;
}
