// Lists in pages: the query that asks for one, and the answer that says whether there are more.
import { z } from 'zod';
import { isId } from '../../db/ids.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import type { Reply } from '../context.ts';
import { queryInteger } from './request-fields.ts';

/** The fields of a list's query. */
export function pageQuery(prefix: IdPrefix) {
  return {
    limit: queryInteger(1, 100, 20),
    cursor: pageCursor(prefix).describe('The `nextCursor` of the page before.'),
  };
}

/** The id of the last entry of the page before; absent for the first page. */
export function pageCursor(prefix: IdPrefix) {
  return z
    .string()
    .refine((text) => isId(prefix, text), 'use a nextCursor')
    .optional();
}

/** The reply of a list. `found` has to have one row more than the limit if there is another page. */
export function answerPage<Row extends { id: string }>(
  found: readonly Row[],
  limit: number,
  present: (row: Row) => unknown,
): Reply {
  const { rows, hasMore, nextCursor } = cutPage(found, limit, ({ id }) => id);
  return { status: 200, body: { data: rows.map(present), hasMore, nextCursor } };
}

/** Cuts off the row beyond the limit. `nextCursor` is that of the last row left; null on the last page. */
export function cutPage<Row>(found: readonly Row[], limit: number, cursorOf: (row: Row) => string) {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = found.length > limit;
  return { rows, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
