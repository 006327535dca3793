// Asking a vendor to stop a job.
import { forkEm } from '../db/database.ts';
import type { Task } from '../db/entities/tasks.ts';
import { findSubmission } from '../db/tasks/submissions.ts';
import { withTimeLimit } from '../providers/http/time-limit.ts';
import { UpstreamFailure, type Cancellation, type Provider } from '../providers/provider.ts';
import type { JobHandle } from '../domain/jobs.ts';
import type { TaskAttempt } from '../domain/tasks.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Shorter than a usual look, because the caller waits for the cancellation. */
export const WITHDRAW_LOOK_LIMIT_MS = 5_000;

/** `too_late` also where the vendor cannot cancel, refuses to, or does not answer in time. */
export async function cancelJob({
  provider,
  handle,
}: {
  provider: Pick<Provider, 'cancel'>;
  handle: JobHandle;
}): Promise<Cancellation> {
  const cancel = async (limit: AbortSignal) => provider.cancel?.(handle, limit);
  try {
    return (await withTimeLimit(WITHDRAW_LOOK_LIMIT_MS, undefined, cancel)) ?? 'too_late';
  } catch (error) {
    if (error instanceof UpstreamFailure) return 'too_late';
    throw error;
  }
}

/** A job for which no task waits. `provider`: undefined where its family has no credentials any more. */
export interface OrphanedJob {
  task: TaskAttempt;
  family: string;
  provider: Pick<Provider, 'cancel'> | undefined;
  handle: JobHandle;
}

/**
 * Stops a job for which no task waits, where the vendor can. Never throws: what the job costs is the
 * operator's loss, and the task has nothing to do with it.
 */
export async function stopOrphan(
  log: ActivityDependencies['log'],
  { task: { taskId, attempt }, family, provider, handle }: OrphanedJob,
): Promise<void> {
  const job = { taskId, attempt, family, jobId: handle.id };
  const stopped = await cancelJob({ provider: provider ?? {}, handle }).then(
    (cancellation) => ({ isStopped: cancellation === 'cancelled' }),
    (err: unknown) => ({ isStopped: false, err }),
  );
  log.warn({ ...job, ...stopped }, 'the vendor took a job that no task waits for');
}

/** Stops the job of a task that was ended while its vendor worked on it, if it has one. Never throws. */
export async function stopJobOf(
  { database, providers, log }: Pick<ActivityDependencies, 'database' | 'providers' | 'log'>,
  { id: taskId, attempt, family, adapter }: Task,
): Promise<void> {
  const task = { taskId, attempt };
  try {
    const submission = await findSubmission(forkEm(database), task);
    if (submission?.state !== 'accepted' || !submission.handle) return;
    await stopOrphan(log, { task, family, provider: providers.get(adapter), handle: submission.handle });
  } catch (err) {
    log.warn({ err, ...task }, 'the job of a task that was ended could not be looked for');
  }
}
