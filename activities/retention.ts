// Removes what is older than the settings allow, in small batches: results, tasks, chat calls, audit entries.
import pLimit from 'p-limit';
import { readClock } from '../db/clock.ts';
import type { TaskOutput } from '../db/columns.ts';
import { forkEm } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import { removeAuditEntries } from '../db/retention/old-audit-entries.ts';
import { removeCalls } from '../db/retention/old-calls.ts';
import { listDueTasks, removeTasks } from '../db/retention/old-tasks.ts';
import { beginRemoval, finishRemoval, type RetentionSubject } from '../db/retention/progress.ts';
import { forgetResults, hideResults } from '../db/retention/results.ts';
import type { IdPrefix } from '../domain/ids.ts';
import type { Retention } from '../domain/retention.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** A round ends after this; the next one goes on. */
const ROUND_MS = 10_000;
/** After a subject was finished it is looked at again this much later. */
const REST_MS = 3_600_000;
/** Rows that one statement removes: some tens of milliseconds. */
const TASKS_PER_BATCH = 100;
const CALLS_PER_BATCH = 500;
const AUDIT_ENTRIES_PER_BATCH = 500;
/** Files removed at the same time. */
const FILES_PARALLEL = 8;
const DAY_MS = 86_400_000;

const PREFIXES: Readonly<Record<RetentionSubject, IdPrefix>> = {
  result: 'task',
  task: 'task',
  call: 'call',
  audit_entry: 'aud',
};

type RetentionDependencies = Pick<ActivityDependencies, 'database' | 'storage' | 'retention'>;

/** Where a batch belongs: what is older than `before` is to go. */
interface Due {
  before: Date;
  beforeId: string;
}

/** `clock`: the database's when left out, since that of this machine may have been set ahead. */
export function createRetention(
  dependencies: RetentionDependencies,
  clock: () => Promise<number> = () => readClock(forkEm(dependencies.database)),
) {
  const batches = createBatches(dependencies);
  const restsUntil = new Map<RetentionSubject, number>();

  return {
    /**
     * Removes what is due until nothing is, or until the round is over. Safe to repeat, and to kill anywhere.
     * Throws StorageUnavailable; what has no files is removed before that.
     */
    async removeExpired(): Promise<Partial<Record<RetentionSubject, number>>> {
      const removed: Partial<Record<RetentionSubject, number>> = {};
      const now = await clock();
      const until = Date.now() + ROUND_MS;
      for (const [subject, days] of daysBySubject(dependencies.retention)) {
        if (days === 0 || (restsUntil.get(subject) ?? 0) > now) continue;
        const before = new Date(now - days * DAY_MS);
        const due = { before, beforeId: firstIdAt(PREFIXES[subject], before) };
        await beginRemoval(forkEm(dependencies.database), subject, due.before, due.beforeId);
        const next = batches[subject](due);
        removed[subject] = 0;
        for (let batch = await next(); ; batch = await next()) {
          removed[subject] += batch.removed;
          if (batch.isLast) {
            await finishRemoval(forkEm(dependencies.database), subject);
            restsUntil.set(subject, now + REST_MS);
          }
          if (batch.isLast || Date.now() >= until) break;
        }
      }
      return removed;
    },
  };
}

/**
 * A task that goes takes its result with it, however long results are kept. Files come last: storage may
 * fail.
 */
function daysBySubject({
  resultDays,
  taskDays,
  callDays,
  auditDays,
}: Retention): [RetentionSubject, number][] {
  const limits = [resultDays, taskDays].filter((days) => days > 0);
  return [
    ['call', callDays],
    ['audit_entry', auditDays],
    ['result', limits.length > 0 ? Math.min(...limits) : 0],
    ['task', taskDays],
  ];
}

interface Batch {
  removed: number;
  isLast: boolean;
}

function createBatches({ database, storage }: RetentionDependencies) {
  const inTurn = pLimit(FILES_PARALLEL);

  return {
    result:
      ({ before }: Due) =>
      async (): Promise<Batch> => {
        const due = await hideResults(forkEm(database), before, TASKS_PER_BATCH);
        await deleteFiles(due.flatMap(({ outputs }) => outputs));
        const ids = due.map(({ taskId }) => taskId);
        if (ids.length > 0) await forgetResults(forkEm(database), ids);
        return { removed: due.length, isLast: due.length < TASKS_PER_BATCH };
      },
    task:
      ({ before }: Due) =>
      async (): Promise<Batch> => {
        const due = await listDueTasks(forkEm(database), before, TASKS_PER_BATCH);
        await deleteFiles(due.flatMap(({ outputs }) => outputs));
        const ids = due.map(({ taskId }) => taskId);
        if (ids.length > 0) await removeTasks(forkEm(database), ids, before);
        return { removed: due.length, isLast: due.length < TASKS_PER_BATCH };
      },
    call: (due: Due) => {
      let after = '';
      return async (): Promise<Batch> => {
        const step = await removeCalls(forkEm(database), { ...due, after, limit: CALLS_PER_BATCH });
        after = step.after ?? '';
        return { removed: step.removed, isLast: step.after === null };
      };
    },
    audit_entry: (due: Due) => async (): Promise<Batch> => {
      const removed = await removeAuditEntries(forkEm(database), { ...due, limit: AUDIT_ENTRIES_PER_BATCH });
      return { removed, isLast: removed < AUDIT_ENTRIES_PER_BATCH };
    },
  };

  async function deleteFiles(outputs: readonly TaskOutput[]): Promise<void> {
    const keys = outputs.flatMap(({ key, previewKey }) =>
      previewKey === undefined ? [key] : [key, previewKey],
    );
    await Promise.all(keys.map((key) => inTurn(() => storage.delete(key))));
  }
}
