// The summary of usage: credits by time and group, as the ledger has them.
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { call } from './call.ts';
import { shownTimeZone } from './preferences.ts';

export type Interval = 'hour' | 'day' | 'month';
export type Grouping = 'model' | 'key' | 'kind' | 'none' | 'user' | 'family';

export interface UsageSums {
  credits: number;
  tasks: number;
  calls: number;
  failed: number;
  promptTokens: number;
  completionTokens: number;
  images: number;
  seconds: number;
  /** What vendors billed beyond the charges; for administrators alone. */
  loss?: number;
}

export interface UsageRow extends UsageSums {
  start: string;
  group: string | null;
}

export interface Usage {
  data: readonly (UsageRow & { bucket: string })[];
  total: UsageSums;
  asOf: string;
  /** Every bucket of the period in its order, those without usage too. */
  buckets: readonly string[];
}

export interface UsagePeriod {
  days: number;
  interval: Interval;
  group: Grouping;
  /** How many periods of this length lie between it and now. */
  periodsAgo?: number;
  isAdmin?: boolean;
  /** For administrators: the usage of this user alone. */
  userId?: string;
}

const DAY_MS = 86_400_000;
const STEP_MS: Readonly<Record<Interval, number>> = { hour: 3_600_000, day: DAY_MS / 4, month: DAY_MS };
const HALF_HOUR_MS = 1_800_000;
const STALE_MS = 30_000;

export function useUsage({ days, interval, group, periodsAgo = 0, isAdmin = false, userId }: UsagePeriod) {
  const timezone = shownTimeZone();
  return useQuery({
    queryKey: ['money', 'usage', isAdmin, days, interval, group, periodsAgo, timezone, userId],
    staleTime: STALE_MS,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: async ({ signal }): Promise<Usage> => {
      const period = periodOf(days, interval, periodsAgo, timezone);
      const query = { from: period.from, to: period.to, interval, timezone };
      const answer: { data: UsageRow[]; total: UsageSums; asOf: string } = isAdmin
        ? await call('GET /api/admin/usage/summary', { signal, query: { ...query, group, userId } })
        : await call('GET /api/usage/summary', { signal, query: { ...query, group: ownGroup(group) } });
      const data = answer.data.map((row) => ({
        ...row,
        bucket: bucketOf(Date.parse(row.start), interval, timezone),
      }));
      return { ...answer, data, buckets: period.buckets };
    },
  });
}

/** What a user's own usage is grouped by; the others are for administrators alone. */
function ownGroup(group: Grouping) {
  return group === 'user' || group === 'family' ? 'none' : group;
}

/** The period that ends with the present day, hour or month, in the time zone. */
export function periodOf(days: number, interval: Interval, periodsAgo: number, zone: string) {
  const now = Date.now() - periodsAgo * days * DAY_MS;
  const span = interval === 'hour' ? days * DAY_MS - 3_600_000 : (days - 1) * DAY_MS;
  const first = beginningOf(now - span, interval, zone);
  const last =
    periodsAgo === 0
      ? now
      : beginningOf(now, interval, zone) + (interval === 'hour' ? 3_600_000 : DAY_MS) - 1;
  const buckets = new Set<string>();
  for (let at = first; at <= last; at += STEP_MS[interval]) buckets.add(bucketOf(at, interval, zone));
  buckets.add(bucketOf(last, interval, zone));
  return { from: new Date(first).toISOString(), to: new Date(last + 1).toISOString(), buckets: [...buckets] };
}

/** The moment at which a moment's bucket begins, found by halves: days may have 23 or 25 hours. */
function beginningOf(at: number, interval: Interval, zone: string): number {
  const bucket = bucketOf(at, interval, zone);
  let [before, within] = [at - (interval === 'month' ? 32 * DAY_MS : 26 * 3_600_000), at];
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (bucketOf(middle, interval, zone) === bucket) within = middle;
    else before = middle;
  }
  return within;
}

/** The moments at which a bucket begins and ends, as the filters of lists take them. */
export function rangeOf(bucket: string, interval: Interval, zone: string): { from: string; to: string } {
  const [date = '', hour = '12'] = bucket.split(' ');
  // A moment that lies in the bucket in every time zone is not known, so it is found from noon of its day.
  let within = Date.parse(`${date.length === 7 ? `${date}-15` : date}T${hour}:30:00Z`);
  for (let step = 0; step < 48 && bucketOf(within, interval, zone) !== bucket; step += 1)
    within += bucketOf(within, interval, zone) < bucket ? HALF_HOUR_MS : -HALF_HOUR_MS;
  const from = beginningOf(within, interval, zone);
  const next =
    interval === 'hour' ? from + 3 * HALF_HOUR_MS : from + (interval === 'day' ? 1.5 : 45) * DAY_MS;
  return {
    from: new Date(from).toISOString(),
    to: new Date(beginningOf(next, interval, zone)).toISOString(),
  };
}

/** From the beginning of the first bucket to the end of the last. */
export function wholeRangeOf(
  { buckets }: Usage,
  interval: Interval,
  zone: string,
): { from?: string; to?: string } {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) return {};
  return { from: rangeOf(first, interval, zone).from, to: rangeOf(last, interval, zone).to };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Names the hour, day or month of a moment: `2026-11-20`, with ` 09` for hours, cut for months. */
export function bucketOf(at: number, interval: Interval, zone: string): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-CA', {
      ...({ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const),
      timeZone: zone,
    });
  formats.set(zone, format);
  const [date = '', hour = ''] = format.format(at).split(', ');
  if (interval === 'hour') return `${date} ${hour.slice(0, 2)}`;
  return interval === 'day' ? date : date.slice(0, 7);
}
