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
 * The condition that a row with the id `column` is older than `beforeId` and of the period. Ids begin with
 * their time, so that the index of the list serves the period too.
 */
export function isOnPage(
  column: RawQueryFragment,
  prefix: IdPrefix,
  { beforeId, from, to }: PageFilters,
): RawQueryFragment {
  const before = to ? firstIdAt(prefix, to) : null;
  const end = beforeId !== null && (before === null || beforeId < before) ? beforeId : before;
  return all([from && sql`${column} >= ${firstIdAt(prefix, from)}`, end !== null && sql`${column} < ${end}`]);
}

/** Joins conditions; what is no condition is left out. */
export function all(conditions: readonly (RawQueryFragment | false | null | undefined)[]): RawQueryFragment {
  return conditions.reduce<RawQueryFragment>(
    (joined, condition) => (condition ? sql`${joined} and ${condition}` : joined),
    sql`true`,
  );
}

/** The condition that a column has this value; none where there is no value. */
export function has(column: RawQueryFragment, value: string | null | undefined): RawQueryFragment | null {
  return value === null || value === undefined ? null : sql`${column} = ${value}`;
}
