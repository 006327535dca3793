// What the usage summaries of a user and of all users share: the query, its limits, and adding up.
import type { UsageRow, UsageSums } from '../../db/usage/intervals.ts';
import { readUsage } from '../../db/usage/summary.ts';
import { toCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { USAGE_INTERVALS, type UsageGroup, type UsageInterval } from '../../domain/usage.ts';
import type { RequestContext, SessionCaller } from '../context.ts';
import { oneOf, periodQuery } from '../http/request-fields.ts';
import type { UsageSumsView } from '../shapes/usage.ts';
import { z } from 'zod';

/** The longest period by interval: a little more than a month of hours, a year of days. */
const PERIOD_DAYS_MAX = { hour: 32, day: 400, month: 400 } as const satisfies Record<UsageInterval, number>;
const ROWS_MAX = 10_000;
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

/** The query fields of the period of a summary. */
export const SUMMARY_PERIOD = periodQuery('Without it, 30 days before `to`.', 'Without it, now.');

/** The query fields of a summary beside `group`. */
export const SUMMARY_QUERY = {
  ...SUMMARY_PERIOD,
  interval: oneOf(USAGE_INTERVALS).default('day'),
  timezone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be an IANA time zone, such as Asia/Kolkata')
    .default('UTC')
    .describe('The IANA time zone in which days and months begin.'),
};

interface SummaryQuery {
  from?: Date | undefined;
  to?: Date | undefined;
  interval: UsageInterval;
  timezone: string;
  group: UsageGroup;
}

export interface SummedUsage {
  rows: UsageRow[];
  total: UsageSums;
  asOf: string;
}

/** Reads the usage of one user, or of all where `userId` is null. Throws for what is too much to compute. */
export async function summariseUsage(
  { services, em }: RequestContext<SessionCaller>,
  userId: string | null,
  query: SummaryQuery,
): Promise<SummedUsage> {
  const { interval, timezone, group } = query;
  const { from, to } = periodOf(query);
  const families = new Map([...services.catalog.models].map(([id, { family }]) => [id, family]));
  const request = { userId, from, to, interval, timezone, group, families, rowsMax: ROWS_MAX };
  const answer = await readUsage(em, request);
  if (answer.kind === 'unknown_timezone') throw refusal('timezone', 'timezone is not known to the database.');
  if (answer.kind !== 'summary') throw tooMuchUsage();
  return { rows: answer.rows, total: addUp(answer.rows), asOf: answer.asOf.toISOString() };
}

/** The JSON of sums, without the loss, which is the operator's. */
export function presentUsageSums(sums: UsageSums): UsageSumsView {
  return {
    credits: toCredits(sums.credits),
    tasks: sums.tasks,
    calls: sums.calls,
    failed: sums.failed,
    promptTokens: sums.promptTokens,
    completionTokens: sums.completionTokens,
    images: sums.images,
    seconds: sums.seconds,
  };
}

/** The JSON of rows. Thousands share a few starts, whose texts are made once. */
export function presentUsageRows<Sums>(
  rows: readonly UsageRow[],
  present: (sums: UsageSums) => Sums,
): ({ start: string; group: string | null } & Sums)[] {
  const starts = new Map<number, string>();
  return rows.map((row) => {
    const time = row.start.getTime();
    const start = starts.get(time) ?? row.start.toISOString();
    starts.set(time, start);
    return { start, group: row.group, ...present(row) };
  });
}

/** The period that is asked for; `to` is null for the present moment. Throws for one that is too long. */
export function periodOf({ from, to: end, interval }: Pick<SummaryQuery, 'from' | 'to' | 'interval'>): {
  from: Date;
  to: Date | null;
} {
  const to = end ?? new Date();
  const begin = from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  const daysMax = PERIOD_DAYS_MAX[interval];
  if (begin >= to) throw refusal('from', 'from must lie before to.');
  if (to.getTime() - begin.getTime() > daysMax * DAY_MS)
    throw refusal('from', `A period by the ${interval} may have at most ${daysMax} days.`);
  return { from: begin, to: end ?? null };
}

/** The 400 for a period with more usage than is counted for one request. */
export function tooMuchUsage(): GatewayError {
  return refusal('from', 'There is too much usage in this period. Ask for a shorter one.');
}

function addUp(rows: readonly UsageRow[]): UsageSums {
  const total: UsageSums = {
    credits: 0n,
    loss: 0n,
    tasks: 0,
    calls: 0,
    failed: 0,
    promptTokens: 0,
    completionTokens: 0,
    images: 0,
    seconds: 0,
  };
  for (const row of rows) {
    total.credits += row.credits;
    total.loss += row.loss;
    total.tasks += row.tasks;
    total.calls += row.calls;
    total.failed += row.failed;
    total.promptTokens += row.promptTokens;
    total.completionTokens += row.completionTokens;
    total.images += row.images;
    total.seconds += row.seconds;
  }
  return total;
}

/** Offsets such as +05:30 are no zones: PostgreSQL reads their sign the other way round. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}
