// Reads from the database how many tasks of a bench have which status, and whether the money adds up.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Em } from '../../db/database.ts';
import { findViolations } from '../../db/ledger/invariants.ts';

const LOOK_EVERY_MS = 50;

export interface TaskCounts {
  queued: number;
  in_progress: number;
  completed: number;
  failed: number;
  cancelled: number;
}

/** Counts a user's tasks by status. */
export async function countTasks(em: Em, userId: string): Promise<TaskCounts> {
  const rows = await em.execute<{ status: keyof TaskCounts; count: number }[]>(
    'select status, count(*)::int as count from task where user_id = ? group by status',
    [userId],
  );
  const counts: TaskCounts = { queued: 0, in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const { status, count } of rows) counts[status] = count;
  return counts;
}

/** Waits until the user's tasks satisfy `isReached`. Throws after the limit, naming the counts by status. */
export async function untilTasks(
  em: Em,
  userId: string,
  isReached: (counts: TaskCounts) => boolean,
  limitMs: number,
): Promise<TaskCounts> {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const counts = await countTasks(em, userId);
    if (isReached(counts)) return counts;
    if (Date.now() > giveUpAt) throw new Error(`waited ${limitMs} ms in vain: ${JSON.stringify(counts)}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Waits until one task is final and returns its status with the milliseconds from creation to completion. */
export async function untilFinal(
  em: Em,
  taskId: string,
  limitMs: number,
): Promise<{ status: string; ms: number }> {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const [row] = await em.execute<{ status: string; ms: number | null }[]>(
      `select status, (extract(epoch from completed_at - created_at) * 1000)::float8 as ms from task where id = ?`,
      [taskId],
    );
    if (row && row.ms !== null) return { status: row.status, ms: row.ms };
    if (Date.now() > giveUpAt) return { status: row?.status ?? 'missing', ms: limitMs };
    await sleep(LOOK_EVERY_MS);
  }
}

/** Reads how many credits of a user are reserved, and how many rules of the ledger are violated. */
export async function readMoney(em: Em, userId: string): Promise<{ reserved: bigint; violations: number }> {
  const [row] = await em.execute<{ reserved: string }[]>('select reserved from account where user_id = ?', [
    userId,
  ]);
  return { reserved: BigInt(row?.reserved ?? 0), violations: (await findViolations(em)).length };
}
