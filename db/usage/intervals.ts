// The rows of a summary on their way from the database: a list for each column of an interval, because the
// driver takes ten times as long for thousands of rows with eleven values each.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { readMicroCredits } from '../columns.ts';

export interface UsageSums {
  /** Charges less refunds of the ledger. */
  credits: MicroCredits;
  /** What tasks and calls cost the operator beyond their charges. */
  loss: MicroCredits;
  /** Tasks that ended, whichever way. */
  tasks: number;
  /** Chat calls that ended, whichever way. */
  calls: number;
  /** Those of both that failed. */
  failed: number;
  /** Of chat calls. */
  promptTokens: number;
  completionTokens: number;
  /** Of tasks that were completed. */
  images: number;
  seconds: number;
}

export interface UsageRow extends UsageSums {
  /** When the interval begins, also where the period begins within it. */
  start: Date;
  /** Null for what belongs to no group, such as tasks without a key. */
  group: string | null;
}

const COLUMNS = [
  ...(['credits', 'loss', 'tasks', 'calls', 'failed'] as const),
  ...(['prompt_tokens', 'completion_tokens', 'images', 'seconds'] as const),
];

/** The row of an interval in the columns of `LISTS`, each in the order of the groups. */
export interface StoredInterval extends Record<(typeof COLUMNS)[number], string> {
  start: string;
  groups: (string | null)[];
}

/** Selects the lists of rows with `"group"` and the columns of sums. */
export const LISTS = COLUMNS.map(
  (name) => sql`string_agg(${sql.ref(name)}::text, ',' order by "group" nulls last) as ${sql.ref(name)}`,
).reduce((all, one) => sql`${all}, ${one}`, sql`json_agg("group" order by "group" nulls last) as groups`);

/** The rows of an interval. */
export function readInterval(interval: StoredInterval): UsageRow[] {
  const start = new Date(interval.start);
  const amounts = (name: 'credits' | 'loss') => interval[name].split(',').map(readMicroCredits);
  const numbers = (name: (typeof COLUMNS)[number]) => interval[name].split(',').map(Number);
  const [credits, loss] = [amounts('credits'), amounts('loss')];
  const [tasks, calls, failed] = [numbers('tasks'), numbers('calls'), numbers('failed')];
  const [promptTokens, completionTokens] = [numbers('prompt_tokens'), numbers('completion_tokens')];
  const [images, seconds] = [numbers('images'), numbers('seconds')];
  return interval.groups.map((group, index) => ({
    start,
    group,
    credits: credits[index] ?? 0n,
    loss: loss[index] ?? 0n,
    tasks: tasks[index] ?? 0,
    calls: calls[index] ?? 0,
    failed: failed[index] ?? 0,
    promptTokens: promptTokens[index] ?? 0,
    completionTokens: completionTokens[index] ?? 0,
    images: images[index] ?? 0,
    seconds: seconds[index] ?? 0,
  }));
}
