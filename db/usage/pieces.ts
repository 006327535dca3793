// How periods of any time zone are put together of spans of UTC, whose sums are kept: added and taken away.
import { BUCKET_MS } from './rollup.ts';

/** From the finest on. `quarter` is a bucket of `usage_rollup`, the others stand in `usage_span`. */
export type Span = 'quarter' | 'hour' | 'six_hours' | 'day' | 'month';

/** All spans of one kind between two moments, which one interval has too few of, and another too many. */
export interface Piece {
  span: Span;
  from: Date;
  to: Date;
  /** The number of the interval that it is a part of; null where it is only taken away. */
  addedTo: number | null;
  takenFrom: number | null;
}

const HOUR_MS = 4 * BUCKET_MS;
const SIX_HOURS_MS = 6 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;
/** By span, how long it is, and of what spans it is a part. */
const COARSER = {
  quarter: { ms: BUCKET_MS, coarser: 'hour' },
  hour: { ms: HOUR_MS, coarser: 'six_hours' },
  six_hours: { ms: SIX_HOURS_MS, coarser: 'day' },
  day: { ms: DAY_MS, coarser: 'month' },
} as const;

/**
 * The pieces of the intervals between these moments, each of which is the boundary of a bucket. What lies
 * between a boundary and the nearest day (of which it lies the nearest hour, and so on) is read once: it is
 * added to the interval at its one side and taken from that at the other. So a day of any zone is one day of
 * UTC, and beside it at most two sums of six hours, three hours and two quarters, however many rows it has.
 */
export function divide(boundaries: readonly Date[]): Piece[] {
  const pieces = boundaries.slice(1).flatMap((to, number) => divideOne(boundaries[number] ?? to, to, number));
  const joined: Piece[] = [];
  const halves = new Map<string, Piece>();
  for (const piece of pieces) {
    const key = `${piece.span} ${piece.from.getTime()} ${piece.to.getTime()}`;
    const other = halves.get(key);
    if (other && (other.addedTo === null) !== (piece.addedTo === null)) {
      other.addedTo ??= piece.addedTo;
      other.takenFrom ??= piece.takenFrom;
      halves.delete(key);
    } else {
      joined.push(piece);
      halves.set(key, piece);
    }
  }
  return joined;
}

/**
 * By coarser spans between the boundaries that are nearest to both ends, with what lies between those and the
 * ends; where that is not less to read, by spans of this kind alone.
 */
function divideOne(from: Date, to: Date, number: number, span: Span = 'quarter'): Piece[] {
  if (span === 'month') return between(span, from, to, number);
  const { coarser, ms } = COARSER[span];
  const [nearFrom, nearTo] = [nearest(coarser, from), nearest(coarser, to)];
  const count = (one: Date, other: Date): number => Math.abs(one.getTime() - other.getTime()) / ms;
  const beside = (count(from, nearFrom) + count(to, nearTo)) / 2; // the other half is its neighbours'
  if (nearFrom >= nearTo || beside + 1 >= count(from, to)) return between(span, from, to, number);
  return [
    ...between(span, from, nearFrom, number),
    ...divideOne(nearFrom, nearTo, number, coarser),
    ...between(span, nearTo, to, number),
  ];
}

/** What lies between two moments is taken away where the first is the later one. */
function between(span: Span, from: Date, to: Date, number: number): Piece[] {
  if (from < to) return [{ span, from, to, addedTo: number, takenFrom: null }];
  return from > to ? [{ span, from: to, to: from, addedTo: null, takenFrom: number }] : [];
}

/** The boundary of such a span that is nearest to a moment. */
function nearest(span: Exclude<Span, 'quarter'>, at: Date): Date {
  const ms = at.getTime();
  if (span !== 'month') {
    const lengthMs = { hour: HOUR_MS, six_hours: SIX_HOURS_MS, day: DAY_MS }[span];
    // Half past is as near to both hours: the one towards the six hours leaves fewer of them.
    const towards = span === 'hour' ? Math.sign(nearest('six_hours', at).getTime() - ms) : 0;
    return new Date(Math.round((ms + towards) / lengthMs) * lengthMs);
  }
  const since = new Date(ms);
  since.setUTCDate(1);
  since.setUTCHours(0, 0, 0, 0);
  const until = new Date(since);
  until.setUTCMonth(until.getUTCMonth() + 1);
  return ms - since.getTime() < until.getTime() - ms ? since : until;
}
