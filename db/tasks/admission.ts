// The first step of an attempt in one statement: its earmark becomes its reservation, and it takes a slot.
import type { TaskAttempt, TaskStatus } from '../../domain/tasks.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

export type AdmitVerdict =
  /** The credits are reserved. `queued`: all slots of the user are taken. */
  | { kind: 'reserved'; status: TaskStatus }
  | { kind: 'refused'; reason: ReserveRefusal }
  /** The task was cancelled, or belongs to a later attempt: there is nothing to do. */
  | { kind: 'not_claimable' };

/**
 * Reserves what the attempt may cost, then begins it if fewer than `runningTasksMax` tasks of the user are in
 * progress: `reserve` (`db/ledger/reservations.ts`) and `beginTask`, with all their conditions, in one
 * transaction. Safe to repeat.
 */
export async function admitTask(
  em: Em,
  { taskId, attempt }: TaskAttempt,
  runningTasksMax: number,
): Promise<AdmitVerdict> {
  const [admitted] = await admit(em, [taskId, attempt, runningTasksMax]);
  if (!admitted) return { kind: 'not_claimable' };
  if (admitted.refusal !== null) return { kind: 'refused', reason: admitted.refusal };
  return { kind: 'reserved', status: admitted.status ?? 'failed' };
}

/** What begins is given by the reservation, so that it comes after it: a refused task is none to begin. */
const admit = prepare<{ refusal: ReserveRefusal | null; status: TaskStatus | null }>(
  'admit-task',
  `select coalesce(r.refusal, b.refusal) as refusal, b.status
   from reserve_attempt($1, $2) r
   cross join lateral begin_task(case when r.refusal is null then $1 end, $2, $3) b`,
);
