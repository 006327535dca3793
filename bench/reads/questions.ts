// The reads that are measured: each as a path of the API, and as the function of db/ behind it.
import { listOwnChatCalls } from '../../db/chat/call-records.ts';
import { forkEm, type Database, type Em } from '../../db/database.ts';
import { listAllTasks } from '../../db/tasks/all-tasks.ts';
import { listOwnTasks } from '../../db/tasks/tasks.ts';
import { countFailures } from '../../db/usage/failures.ts';
import { readUsage } from '../../db/usage/summary.ts';
import { ALL_USAGE_GROUPS, USAGE_GROUPS, type UsageGroup, type UsageInterval } from '../../domain/usage.ts';
import type { PastUser } from './history.ts';
import { COMMON_MODEL, RARE_MODEL } from './models.ts';

export interface Question {
  kind: 'list' | 'summary';
  /** Who asks. */
  as: 'user' | 'administrator';
  path: string;
  /** Null where nothing but the path is measured. */
  read: ((em: Em) => Promise<unknown>) | null;
  /** Whose transfers since when a summary has to add up to; the user is null for all. Null for lists. */
  adds: { userId: string | null; from: Date } | null;
}

const DAY_MS = 86_400_000;
const LIMIT = 100;
/** Periods begin within a quarter of an hour. */
const SOME_MINUTES_MS = 123_456;

export function listQuestions(database: Database, { userId, keyIds }: PastUser, days: number): Question[] {
  const [, rareKey] = keyIds;
  const ago = (share: number): Date => new Date(Date.now() - days * share * DAY_MS);
  const times = { from: ago(0.8), to: ago(0.7) };
  const page = { limit: LIMIT, beforeId: null };
  const ofTasks = filtersOfTasks(rareKey, times);
  return [
    ...ofTasks.map((filters): Question => ({
      ...ask('user', '/api/tasks', filters),
      read: (em) => listOwnTasks(em, userId, { ...page, ...filters }),
    })),
    ...filtersOfCalls(rareKey, times).map((filters): Question => ({
      ...ask('user', '/api/usage', filters),
      read: (em) => listOwnChatCalls(em, userId, { ...page, ...NO_FILTERS, ...filters }),
    })),
    ...[...ofTasks, { userId }, { userId, status: 'failed' as const }].map((filters): Question => ({
      ...ask('administrator', '/api/admin/tasks', filters),
      read: (em) => listAllTasks(em, { ...page, ...filters }),
    })),
    ...(['user', 'administrator'] as const).flatMap((as) =>
      OTHER_LISTS[as].map((path): Question => ({ kind: 'list', as, path, read: null, adds: null })),
    ),
    ...summaries(database, userId, days),
  ];
}

const OTHER_LISTS = {
  user: [
    '/api/balance?includeLedger=1&limit=200',
    '/api/keys',
    '/api/auth/sessions',
    '/api/uploads/videos',
    '/api/security-events',
  ],
  administrator: [
    ...['/api/admin/users?limit=100', '/api/admin/users?q=bench'],
    ...['/api/admin/audit-entries', '/api/admin/redeem-codes'],
  ],
};
const NO_FILTERS = {
  ...{ model: undefined, keyId: undefined, status: undefined, errorCode: undefined },
  ...{ from: undefined, to: undefined },
};

type Times = { from: Date; to: Date };

/** What finds many of many, few of many, and nothing. */
function filtersOfTasks(rareKey: string, times: Times) {
  return [
    {},
    ...[COMMON_MODEL, RARE_MODEL].map((model) => ({ model })),
    ...(['completed', 'failed', 'cancelled', 'queued'] as const).map((status) => ({ status })),
    ...(['video', 'text'] as const).map((mode) => ({ mode })),
    ...['result_unavailable', 'none'].map((errorCode) => ({ errorCode })),
    { keyId: rareKey },
    times,
    { ...times, model: RARE_MODEL },
    { ...times, status: 'failed' as const, mode: 'image' as const },
    { keyId: rareKey, model: COMMON_MODEL, mode: 'video' as const },
  ];
}

function filtersOfCalls(rareKey: string, times: Times) {
  return [
    {},
    ...[COMMON_MODEL, RARE_MODEL, 'none'].map((model) => ({ model })),
    ...[rareKey, 'none'].map((keyId) => ({ keyId })),
    ...(['completed', 'failed', 'cancelled'] as const).map((status) => ({ status })),
    ...['upstream_timeout', 'none'].map((errorCode) => ({ errorCode })),
    times,
    { ...times, model: RARE_MODEL },
    { keyId: rareKey, model: RARE_MODEL, status: 'completed' as const },
  ];
}

function ask(
  as: Question['as'],
  path: string,
  filters: Readonly<Record<string, string | Date | undefined>>,
): Omit<Question, 'read'> {
  const query = new URLSearchParams({ limit: String(LIMIT) });
  for (const [name, value] of Object.entries(filters))
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : value);
  return { kind: 'list', as, path: `${path}?${query.toString()}`, adds: null };
}

function summaries(database: Database, userId: string, days: number): Question[] {
  const ofDays = (count: number) => new Date(Date.now() - count * DAY_MS - SOME_MINUTES_MS);
  const of = (as: Question['as'], { group, interval, timezone, from }: SummaryQuery): Question => {
    const query = new URLSearchParams({ from: from.toISOString(), group, interval, timezone });
    const path = as === 'user' ? '/api/usage/summary' : '/api/admin/usage/summary';
    const request = { userId: as === 'user' ? userId : null, from, to: null, interval, timezone, group };
    return {
      ...{ kind: 'summary', as, path: `${path}?${query.toString()}` },
      adds: { userId: request.userId, from },
      read: () => readUsage(forkEm(database), { ...request, families: new Map(), rowsMax: 10_000 }),
    };
  };
  const whole = ofDays(days);
  const byDay = (group: UsageGroup) =>
    ({ group, interval: 'day', timezone: 'Asia/Kolkata', from: whole }) as const;
  const byMonth = (group: UsageGroup) =>
    ({ group, interval: 'month', timezone: 'America/New_York', from: whole }) as const;
  return [
    ...USAGE_GROUPS.map((group) => of('user', byDay(group))),
    of('user', { group: 'model', interval: 'hour', timezone: 'UTC', from: ofDays(30) }),
    of('user', byMonth('none')),
    ...ALL_USAGE_GROUPS.filter((group) => !hasMany(group)).map((group) => of('administrator', byDay(group))),
    ...ALL_USAGE_GROUPS.map((group) => of('administrator', byMonth(group))),
    of('administrator', { ...byDay('user'), from: ofDays(7) }),
    of('administrator', { ...byDay('key'), from: ofDays(3) }),
    failures(database, ofDays(30)),
  ];
}

function failures(database: Database, from: Date): Question {
  const query = new URLSearchParams({ from: from.toISOString() });
  return {
    ...{ kind: 'summary', as: 'administrator', path: `/api/admin/usage/failures?${query.toString()}` },
    adds: null,
    read: () => countFailures(forkEm(database), { userId: null, from, to: null }),
  };
}

interface SummaryQuery {
  group: UsageGroup;
  interval: UsageInterval;
  timezone: string;
  from: Date;
}

/** So many users and keys are more rows by the day than a summary may have. */
function hasMany(group: UsageGroup): boolean {
  return group === 'user' || group === 'key';
}
