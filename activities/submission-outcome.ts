// What a vendor's answer to a submission leads to: a job, stored results, another try, or the end.
import { forkEm } from '../db/database.ts';
import { hasReadyCredential, startCooldown, type CooldownReason } from '../db/tasks/credentials.ts';
import * as submissions from '../db/tasks/submissions.ts';
import type { Submission, UpstreamFailure, UpstreamJob } from '../providers/provider.ts';
import { recordJob, type HandOverTry } from './accepted-job.ts';
import { retryWrite } from './activity-retry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeUpstreamFailure, failTaskWith, retryLater } from './failures.ts';
import { removeUnwanted, storeInline } from './results.ts';

/**
 * `accepted`: the vendor works on it. `stored`: it was finished at once, and the results are in our storage.
 */
export interface HandOverState {
  state: 'accepted' | 'stored';
}

export interface FailedSubmission {
  job: UpstreamJob;
  failure: UpstreamFailure;
}

/** An account without money or with a wrong key: its operator has to act first. */
const ACCOUNT_COOLDOWN_SECONDS = 600;
/** Where the vendor does not say how long its limit lasts. */
const RATE_COOLDOWN_MS = 5_000;
const RATE_COOLDOWN_SECONDS_MAX = 60;

/** The vendor has taken the work, so this must be recorded, even if the database is away for a while. */
export async function recordAnswer(
  dependencies: Pick<ActivityDependencies, 'database' | 'storage' | 'log'>,
  { task, provider }: HandOverTry,
  answer: Submission,
): Promise<HandOverState> {
  const { database } = dependencies;
  if (answer.kind === 'accepted') {
    await recordJob(dependencies, { task, provider }, answer);
    return { state: 'accepted' };
  }
  const outputText = answer.results.find((result) => result.kind === 'text')?.text ?? null;
  const outputs = await storeInline(dependencies, task, answer.results);
  if (outputs.length === 0 && outputText === null) {
    const failure = { code: 'upstream_invalid_response', errorText: null } as const;
    await retryWrite(() => submissions.recordFailedTry(forkEm(database), task, failure));
    throw failTaskWith(failure.code);
  }
  const images = answer.evidence.images === undefined ? {} : { images: outputs.length };
  const stored = {
    outputs,
    outputText,
    evidence: { ...answer.evidence, ...images },
    upstreamRequestId: answer.upstreamRequestId,
  };
  const isRecorded = await retryWrite(() => submissions.recordStored(forkEm(database), task, stored));
  if (!isRecorded) await retryWrite(() => removeUnwanted(dependencies, task, outputs));
  return { state: 'stored' };
}

/**
 * Records a submission that failed, and answers the error to throw: a retry if the vendor surely did not
 * receive it and the trouble may pass, else the end of the attempt. A failure of the vendor account starts
 * its cooldown.
 */
export async function recordRefusal(
  { database }: ActivityDependencies,
  { task, provider }: HandOverTry,
  { job, failure }: FailedSubmission,
): Promise<Error> {
  const { errorClass, fate, retryAfterMs } = failure;
  const described = describeUpstreamFailure(errorClass, failure.text, job.prompt);
  const { family } = provider;
  const cooldown = cooldownAfter(failure);
  const others = provider.credentialsFor(job.upstreamModel);
  // What the vendor answered is known here alone: a repeat of the activity would find an unknown outcome.
  const another = await retryWrite(async () => {
    if (cooldown === null) return false;
    const em = forkEm(database);
    await startCooldown(em, { family, credential: job.credential, ...cooldown });
    return hasReadyCredential(em, family, others);
  });
  const mayPass = another || (errorClass !== 'auth' && errorClass !== 'quota');
  if (fate === 'not_received' && mayPass) {
    await retryWrite(() => submissions.recordNotReceived(forkEm(database), task, described.errorText));
    return retryLater(described.code, another ? 0 : retryAfterMs);
  }
  const ended = fate === 'unknown' ? { ...described, code: 'upstream_outcome_unknown' as const } : described;
  await retryWrite(() => submissions.recordFailedTry(forkEm(database), task, ended));
  return failTaskWith(ended.code);
}

/**
 * How long a credential is passed over after this failure; null where the failure is not the credential's.
 */
function cooldownAfter({
  errorClass,
  retryAfterMs,
}: UpstreamFailure): { reason: CooldownReason; seconds: number } | null {
  if (errorClass === 'auth' || errorClass === 'quota')
    return { reason: errorClass, seconds: ACCOUNT_COOLDOWN_SECONDS };
  if (errorClass !== 'rate' && errorClass !== 'concurrency') return null;
  const seconds = Math.ceil((retryAfterMs ?? RATE_COOLDOWN_MS) / 1000);
  return { reason: errorClass, seconds: Math.min(Math.max(seconds, 1), RATE_COOLDOWN_SECONDS_MAX) };
}
