// Lists in pages: the query that asks for one, and the answer that says whether there are more.
import { z } from 'zod';
import { isId } from '../../db/ids.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import type { Reply } from '../context.ts';
import { queryInteger } from './request-fields.ts';

/** The fields of a list's query. The cursor is the id of the last entry of the page before. */
export function pageQuery(prefix: IdPrefix) {
  return {
    limit: queryInteger(1, 100, 20),
    cursor: z
      .string()
      .refine((text) => isId(prefix, text), 'use a nextCursor')
      .optional()
      .describe('The `nextCursor` of the page before.'),
  };
}

/** `found` has one entry more than the limit if there is another page. */
export function answerPage<Row extends { id: string }>(
  found: readonly Row[],
  limit: number,
  present: (row: Row) => unknown,
): Reply {
  const page = found.slice(0, limit);
  const hasMore = found.length > limit;
  const nextCursor = hasMore ? (page.at(-1)?.id ?? null) : null;
  return { status: 200, body: { data: page.map(present), hasMore, nextCursor } };
}
