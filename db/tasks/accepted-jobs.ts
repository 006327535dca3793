// The vendor's answer that it has taken the work of an attempt: of two jobs the first stands.
import type { JobHandle } from '../../domain/jobs.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** What became of a job that the vendor has taken. */
export interface AcceptedJob {
  /** Whether the attempt goes on with a job: this one, or one that was recorded before. */
  hasJob: boolean;
  /** Whether no task waits for this job: its attempt has another one, or has ended. */
  isOrphaned: boolean;
}

/**
 * Records the vendor's id of the job, whichever try it is of, also when that was given up: the vendor has
 * taken the work. Of two jobs of an attempt the first stands. The attempt has none after all when another
 * submission has that very job, which is then no orphan, or when this one has failed. Safe to repeat: the
 * same job of a task that has ended without it is an orphan each time.
 */
export async function recordAccepted(
  em: Em,
  { taskId, attempt }: TaskAttempt,
  { handle, upstreamRequestId }: { handle: JobHandle; upstreamRequestId: string | null },
): Promise<AcceptedJob> {
  const { id, credential } = handle;
  const stored = JSON.stringify(handle);
  const [accepted] = await accept(em, [taskId, attempt, stored, id, upstreamRequestId, credential]);
  if (accepted) return { hasJob: true, isOrphaned: !accepted.isOpen };
  const [known] = await findHolder(em, [taskId, attempt, id, credential]);
  return { hasJob: known?.hasJob ?? false, isOrphaned: !known?.isHeld };
}

const accept = prepare<{ isOpen: boolean }>(
  'record-accepted',
  `with accepted as (
    update submission set state = 'accepted', handle = $3::jsonb, credential = $6, updated_at = now()
    where task_id = $1 and attempt = $2 and state in ('sending', 'not_received') and not exists (
      select from submission o
      where o.family = submission.family and o.credential = $6 and o.handle ->> 'id' = $4
        and (o.task_id, o.attempt) <> (submission.task_id, submission.attempt))
    returning task_id, attempt
  ), shown as (
    update task t set upstream_task_id = $4, upstream_request_id = $5, updated_at = now()
    from accepted a where t.id = a.task_id and t.attempt = a.attempt
    returning t.status
  ), logged as (
    insert into task_event (task_id, attempt, event) select task_id, attempt, 'submitted' from accepted
  )
  select exists (select from shown where status in ('queued', 'in_progress')) as "isOpen" from accepted`,
);

/**
 * For a job that was not recorded now: whether the attempt has a job, and whether a submission holds this
 * one. That of the attempt itself does so while its task is open, and when the task was completed with it.
 */
const findHolder = prepare<{ hasJob: boolean; isHeld: boolean }>(
  'find-job-holder',
  `select s.handle is not null as "hasJob", exists (
     select from submission o
     where o.family = s.family and o.credential = $4 and o.handle ->> 'id' = $3
       and ((o.task_id, o.attempt) <> (s.task_id, s.attempt) or exists (
         select from task t where t.id = s.task_id and t.attempt = s.attempt
           and t.status in ('queued', 'in_progress', 'completed')))) as "isHeld"
   from submission s where s.task_id = $1 and s.attempt = $2`,
);
