// Pages of lists: the fields of their queries, and answers that say whether there is another page.
import type { IdPrefix } from '../../domain/ids.ts';
import type { Reply } from '../context.ts';
import { idOr, queryInteger } from './request-fields.ts';

/** The query fields of a list, `limit` and `cursor`. */
export function pageQuery(prefix: IdPrefix) {
  return {
    limit: queryInteger(1, 100, 20),
    cursor: pageCursor(prefix).describe('The `nextCursor` of the page before.'),
  };
}

/** Schema of a cursor: the id of the last entry of the page before; absent for the first page. */
export function pageCursor(prefix: IdPrefix) {
  return idOr(prefix, 'use a nextCursor').optional();
}

/** Answers one page. `found` has to have one row more than the limit if there is another page, or is full. */
export function answerPage<Row extends { id: string }>(
  found: readonly Row[],
  limit: number,
  present: (row: Row) => unknown,
  isFull = false,
): Reply {
  const { rows, hasMore, nextCursor } = cutPage(found, limit, ({ id }) => id, isFull);
  return { status: 200, body: { data: rows.map(present), hasMore, nextCursor } };
}

/**
 * Cuts off the row beyond the limit. `isFull`: there may be more, although these are not beyond it.
 * `nextCursor` is the cursor of the last row kept; null on the last page.
 */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
  isFull = false,
) {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = isFull || found.length > limit;
  return { rows, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
