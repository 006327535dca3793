// Sums of usage and how far they are carried forward. Only db/usage/ and SQL functions write them.
import { defineEntity, p } from '@mikro-orm/core';

const sum = () => p.bigint('bigint').defaultRaw('0');
const quantity = () => p.decimal('string').columnType('numeric').defaultRaw('0');
const sums = () => ({
  credits: sum(),
  loss: sum(),
  tasks: sum(),
  calls: sum(),
  failed: sum(),
  promptTokens: sum(),
  completionTokens: sum(),
  images: quantity(),
  seconds: quantity(),
});

export const UsageRollupEntity = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollup',
  properties: {
    /** Empty for the sums of all users. */
    userId: p.text().primary(),
    /** When the quarter of an hour began. */
    bucket: p.datetime().primary(),
    /** Empty without a key, and in the sums of all users. */
    keyId: p.text().primary(),
    /** The mode of tasks, or `chat`. */
    kind: p.text().primary(),
    model: p.text().primary(),
    /** Empty for chat calls, whose rows do not name it. */
    family: p.text().primary(),
    ...sums(),
    /** Whether it is in the sums by hour, six hours, day and month: when its quarter of an hour is over. */
    isSpanned: p.boolean().defaultRaw('true'),
  },
});

const SPAN = () => p.text().primary().$type<'hour' | 'six_hours' | 'day' | 'month'>();

/** The same by hour, six hours, day and month of UTC; triggers of `usage_rollup` write it. */
export const UsageSpanEntity = defineEntity({
  name: 'UsageSpan',
  tableName: 'usage_span',
  properties: {
    userId: p.text().primary(),
    span: SPAN(),
    start: p.datetime().primary(),
    keyId: p.text().primary(),
    kind: p.text().primary(),
    model: p.text().primary(),
    family: p.text().primary(),
    ...sums(),
  },
});

/** The same by user and key alone, one beside the other; triggers of `usage_rollup` write it. */
export const UsageComparisonEntity = defineEntity({
  name: 'UsageComparison',
  tableName: 'usage_comparison',
  properties: {
    span: SPAN(),
    start: p.datetime().primary(),
    userId: p.text().primary(),
    /** Empty without a key; `*` for all of the user. */
    keyId: p.text().primary(),
    ...sums(),
  },
});

/** The last transfer of an account that is in the sums, and what all of them charged. */
export const UsageMarkEntity = defineEntity({
  name: 'UsageMark',
  tableName: 'usage_mark',
  properties: {
    userId: p.text().primary(),
    sequence: p.bigint('bigint'),
    charged: p.bigint('bigint'),
  },
});

/** One row: what ended before this time is in the sums. */
export const UsageWatermarkEntity = defineEntity({
  name: 'UsageWatermark',
  tableName: 'usage_watermark',
  properties: { id: p.boolean().primary().defaultRaw('true'), until: p.datetime() },
});
