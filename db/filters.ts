// The filters of lists of tasks and chat calls, as conditions that their indexes serve.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { firstIdAt } from './ids.ts';
import type { IdPrefix } from '../domain/ids.ts';

/** A page of a list and what is to be on it. Undefined and null do not filter. */
export interface PageFilters {
  limit: number;
  beforeId: string | null;
  /** From this time on. */
  from?: Date | undefined;
  /** Before this time. */
  to?: Date | undefined;
}

/**
 * The most that the time of an id may differ from `created_at` of its row: the id is made before the row is
 * written, and by another clock. What the id lets through beyond a period is read and left out, so that a day
 * would be too much for a list of many calls.
 */
const ID_MARGIN_MS = 300_000;

/** The columns by which a list is ordered and its period is told. */
export interface PageColumns {
  id: RawQueryFragment;
  createdAt: RawQueryFragment;
}

/**
 * The condition that a row is older than `beforeId` and was created in the period. Ids begin with their time,
 * so that the index of the list serves the period too; at its ends the rows' own time decides.
 */
export function isOnPage(
  { id, createdAt }: PageColumns,
  prefix: IdPrefix,
  { beforeId, from, to }: PageFilters,
): RawQueryFragment {
  const firstId = from && firstIdAt(prefix, shift(from, -ID_MARGIN_MS));
  return joinWithAnd([
    beforeId !== null && sql`${id} < ${beforeId}`,
    from && sql`${id} >= ${firstId} and ${createdAt} >= ${timeText(from)}::timestamptz`,
    to &&
      sql`${id} < ${firstIdAt(prefix, shift(to, ID_MARGIN_MS))} and ${createdAt} < ${timeText(to)}::timestamptz`,
  ]);
}

/** Joins conditions with `and`; what is no condition is left out. True without any. */
export function joinWithAnd(
  conditions: readonly (RawQueryFragment | false | null | undefined)[],
): RawQueryFragment {
  return conditions.reduce<RawQueryFragment>(
    (joined, condition) => (condition ? sql`${joined} and ${condition}` : joined),
    sql`true`,
  );
}

/** The condition that a column has this value; null, which `joinWithAnd` leaves out, without a value. */
export function equals(column: RawQueryFragment, value: string | null | undefined): RawQueryFragment | null {
  return value === null || value === undefined ? null : sql`${column} = ${value}`;
}

function shift(moment: Date, milliseconds: number): Date {
  return new Date(moment.getTime() + milliseconds);
}

/** Nothing is older than 1970; PostgreSQL knows no year 0. */
function timeText(moment: Date): string {
  return new Date(Math.max(0, moment.getTime())).toISOString();
}
