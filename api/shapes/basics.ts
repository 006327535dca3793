// Building blocks of JSON bodies (amounts, times, ids and lists), the same in every shape.
import { z } from 'zod';
import type { IdPrefix } from '../../domain/ids.ts';
import { TASK_MODES, TASK_STATUSES } from '../../domain/tasks.ts';
import { BILLING_MODES } from '../../domain/catalog/catalog.ts';

/** The shape of an amount of credits. */
export const credits = z.number().meta({ description: 'Credits, with at most 6 decimals.', examples: [4] });
export const instant = z.iso
  .datetime()
  .meta({ description: 'ISO 8601, UTC.', examples: ['2026-11-20T09:30:00.000Z'] });
export const unixSeconds = z
  .int()
  .min(0)
  .meta({ description: 'Unix seconds.', examples: [1795167000] });
export const mode = z.enum(TASK_MODES);
export const status = z.enum(TASK_STATUSES);
export const billingMode = z.enum(BILLING_MODES).describe('What the price counts.');
export const progress = z
  .int()
  .min(0)
  .max(100)
  .meta({ description: 'In percent. Never falls.', examples: [40] });
export const modelId = z.string().meta({ description: 'The id of a model.', examples: ['gpt-image-2'] });

/** The shape of an id: its prefix and 26 characters of Crockford's base 32. */
export function id(prefix: IdPrefix, description = 'Sorts by age.') {
  const examples = [`${prefix}_01KB5M8Z3T7QW2E9R4XVN6HJCD`];
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`))
    .meta({ description, examples });
}

/** The shape of most answers: `{ data }`. */
export function dataOf<Shape extends z.ZodType>(shape: Shape) {
  return z.strictObject({ data: shape });
}

/** The shape of a page of a list, newest first. */
export function pageOf<Shape extends z.ZodType>(shape: Shape) {
  return z.strictObject({
    data: z.array(shape),
    hasMore: z.boolean(),
    nextCursor: z
      .string()
      .nullable()
      .describe('Send it as `cursor` to get the next page; null on the last one.'),
  });
}
