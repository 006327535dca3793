// The vendor's answer that it has taken the work of an attempt: of two jobs the first stands.
import type { JobHandle } from '../../domain/jobs.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';
import { findSubmission } from './submissions.ts';

/**
 * Records the vendor's id of the job, whichever try it is of, also when that was given up: the vendor has
 * taken the work. Of two jobs of an attempt the first stands. False when the attempt has none after all:
 * another submission has that very job, or this one has failed.
 */
export async function recordAccepted(
  em: Em,
  task: TaskAttempt,
  answer: { handle: JobHandle; upstreamRequestId: string | null },
): Promise<boolean> {
  const { handle, upstreamRequestId } = answer;
  const rows = await accept(em, [
    task.taskId,
    task.attempt,
    JSON.stringify(handle),
    handle.id,
    upstreamRequestId,
    handle.credential,
  ]);
  if (rows.length > 0) return true;
  const submission = await findSubmission(em, task); // written before: by another try, or the answer was lost
  return Boolean(submission?.handle);
}

const accept = prepare<{ id: string }>(
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
  )
  insert into task_event (task_id, attempt, event) select task_id, attempt, 'submitted' from accepted
  returning task_id as id`,
);
