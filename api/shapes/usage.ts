// JSON of usage summaries: credits and counts by interval and group.
import { z } from 'zod';
import { credits, instant } from './basics.ts';

const count = z.int().min(0);
const sums = {
  credits: credits.describe('Charges less refunds of the ledger, exactly; below 0 where refunds prevail.'),
  tasks: count.describe('Tasks that ended, whichever way.'),
  calls: count.describe('Chat calls that ended, whichever way.'),
  failed: count.describe('Those of both that failed.'),
  promptTokens: count.describe('Of chat calls.'),
  completionTokens: count.describe('Of chat calls.'),
  images: count.describe('Ordered by tasks that were completed.'),
  seconds: z.number().min(0).describe('Of video, ordered by tasks that were completed.'),
};
const allSums = {
  ...sums,
  loss: credits.describe('What tasks and calls cost the operator beyond their charges.'),
};
const row = {
  start: instant.describe('When the interval begins. Intervals without usage are left out.'),
  group: z.string().nullable().describe('Null for what belongs to no group, such as tasks without a key.'),
};
const asOf = instant.describe('The moment of the summary; nothing later is in it.');

const USAGE_SUMS = z.strictObject(sums);
export type UsageSumsView = z.output<typeof USAGE_SUMS>;

export const USAGE_SUMMARY = z
  .strictObject({ data: z.array(z.strictObject({ ...row, ...sums })), total: USAGE_SUMS, asOf })
  .meta({ id: 'UsageSummary', description: 'The usage of a period; the rows add up to `total`.' });
export type UsageSummaryView = z.output<typeof USAGE_SUMMARY>;

export const ALL_USAGE_SUMMARY = z
  .strictObject({
    data: z.array(z.strictObject({ ...row, ...allSums })),
    total: z.strictObject(allSums),
    asOf,
  })
  .meta({ id: 'UsageSummaryOfAllUsers', description: 'The usage of all users, with the operator’s loss.' });
export type AllUsageSummaryView = z.output<typeof ALL_USAGE_SUMMARY>;

export const USAGE_FAILURES = z
  .strictObject({
    data: z.array(
      z.strictObject({
        code: z.string().describe('The code of the error, as tasks and calls have it.'),
        tasks: count,
        calls: count.describe('Chat calls.'),
      }),
    ),
  })
  .meta({ id: 'UsageFailures', description: 'What failed in a period by code, the most frequent first.' });
export type UsageFailuresView = z.output<typeof USAGE_FAILURES>;
