// What a vendor's answer that it has taken the work leads to: the job of the attempt, or one without a task.
import { forkEm } from '../db/database.ts';
import { recordAccepted } from '../db/tasks/accepted-jobs.ts';
import { recordFailedTry, type SubmissionTry } from '../db/tasks/submissions.ts';
import type { Provider, Submission } from '../providers/provider.ts';
import { retryWrite } from './activity-retry.ts';
import { stopOrphan } from './cancel-job.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith } from './failures.ts';

/** The try to hand an attempt over, and the adapter of its vendor. */
export interface HandOverTry {
  task: SubmissionTry;
  provider: Provider;
}

type JobDependencies = Pick<ActivityDependencies, 'database' | 'log'>;

/**
 * Records the job, even if the database is away for a while. Ends the attempt when it has none after all: the
 * vendor named that of another task, or this try was given up.
 */
export async function recordJob(
  { database, log }: JobDependencies,
  { task, provider }: HandOverTry,
  answer: Extract<Submission, { kind: 'accepted' }>,
): Promise<void> {
  const { hasJob, isOrphaned } = await retryWrite(() => recordAccepted(forkEm(database), task, answer));
  const { family } = provider;
  if (isOrphaned) await stopOrphan(log, { task, family, provider, handle: answer.handle });
  if (hasJob) return;
  const failure = { code: 'upstream_outcome_unknown', errorText: null } as const;
  await retryWrite(() => recordFailedTry(forkEm(database), task, failure));
  throw failTaskWith(failure.code);
}
