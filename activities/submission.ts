// Handing the work to the vendor: an intent first, one call, and no second one unless the first surely did not arrive.
import { Context } from '@temporalio/activity';
import {
  hasReadyCredential,
  startCooldown,
  type CredentialChoice,
  type CooldownReason,
} from '../db/tasks/credentials.ts';
import { decryptRequest, type DecryptedRequest } from '../db/tasks/requests.ts';
import * as submissions from '../db/tasks/submissions.ts';
import { findTask } from '../db/tasks/tasks.ts';
import type { JsonValue } from '../domain/json.ts';
import type { TaskAttempt, TaskMode } from '../domain/tasks.ts';
import {
  UpstreamFailure,
  type LookUp,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../providers/provider.ts';
import { retryWrite } from './activity-retry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeUpstreamFailure, failTaskWith, retryLater } from './failures.ts';
import { abortOnCancel, noop, pause, withHeartbeat } from './heartbeat.ts';
import { storeInline } from './results.ts';
import { forkEm } from '../db/database.ts';

/** A submission nobody has kept fresh for so long was abandoned: its worker is dead. */
const FRESH_SECONDS = 15;
const LOOK_EVERY_MS = 500;
/** When every credential has as many jobs as it may have. */
const BUSY_WAIT_MS = 2_000;
/** A vendor’s list may lag behind what it took. */
const LOOKS_MAX = 4;
const LOOK_AGAIN_MS = 1_500;
const LOOK_LIMIT_MS = 10_000;
/** An account without money or with a wrong key: somebody has to do something about it first. */
const ACCOUNT_REST_SECONDS = 600;
const RATE_REST_MS = 5_000;
const RATE_REST_SECONDS_MAX = 60;

/** `accepted`: the vendor works on it. `stored`: it was finished at once, and the results are in our storage. */
export interface HandedOver {
  state: 'accepted' | 'stored';
}

export function createSubmission(dependencies: ActivityDependencies) {
  const { database, secrets, providers } = dependencies;

  return {
    async submit(task: TaskAttempt): Promise<HandedOver> {
      const em = forkEm(database);
      const row = await findTask(em, task.taskId);
      const request = await decryptRequest(em, secrets, task.taskId);
      const provider = row && providers.get(row.adapter);
      if (!row || !request) throw failTaskWith('internal_error');
      if (!provider) throw failTaskWith('model_not_found');
      const { upstreamModel, ordered: order } = row;
      const reference = `${task.taskId}:${task.attempt}`;
      const messages = messagesOf(request, row.mode);
      const jobWith = (credential: string) => ({
        ...request,
        messages,
        reference,
        credential,
        upstreamModel,
        order,
      });
      const intent = await submissions.intendSubmission(em, task, choiceOf(provider));
      if (intent.kind === 'go') return handOver(task, provider, jobWith(intent.credential));
      if (intent.kind === 'busy') throw retryLater('upstream_rate_limited', BUSY_WAIT_MS);
      return resume(task, provider, jobWith);
    },
  };

  function choiceOf({ family, credentials }: Provider): CredentialChoice {
    return { family, credentials, jobsPerCredentialMax: providers.jobsPerCredentialMax(family) };
  }

  async function handOver(task: TaskAttempt, provider: Provider, job: UpstreamJob): Promise<HandedOver> {
    const stayFresh = () => submissions.keepSubmissionFresh(forkEm(database), task);
    return withHeartbeat('waiting for the provider’s answer', stayFresh, async () => {
      const abort = provider.delivery === 'immediate' ? abortOnCancel() : undefined;
      const sentAt = new Date();
      let answer: Submission;
      try {
        answer = await provider.submit(job, abort);
      } catch (error) {
        if (abort?.aborted) return Context.current().cancelled; // rejects: nobody will ever get this result
        if (!(error instanceof UpstreamFailure)) throw error;
        if (error.fate === 'unknown') return lookFor(task, provider, { job, sentAt, failure: error });
        throw await recordFailure(task, provider, { job, failure: error });
      }
      return recordAnswer(task, answer);
    });
  }

  /** The vendor has taken the work, so this must be written down, even if the database is away for a while. */
  async function recordAnswer(task: TaskAttempt, answer: Submission): Promise<HandedOver> {
    if (answer.kind === 'accepted') {
      const isOurs = await retryWrite(() => submissions.recordAccepted(forkEm(database), task, answer));
      if (isOurs) return { state: 'accepted' };
      const failure = { code: 'upstream_outcome_unknown', errorText: null } as const;
      await retryWrite(() => submissions.recordEnded(forkEm(database), task, failure));
      throw failTaskWith(failure.code);
    }
    const outputText = answer.results.find((result) => result.kind === 'text')?.text ?? null;
    const outputs = await storeInline(dependencies, task, answer.results);
    if (outputs.length === 0 && outputText === null) {
      const failure = { code: 'upstream_invalid_response', errorText: null } as const;
      await retryWrite(() => submissions.recordEnded(forkEm(database), task, failure));
      throw failTaskWith(failure.code);
    }
    const images = answer.evidence.images === undefined ? {} : { images: outputs.length };
    const stored = {
      outputs,
      outputText,
      evidence: { ...answer.evidence, ...images },
      upstreamRequestId: answer.upstreamRequestId,
    };
    await retryWrite(() => submissions.recordStored(forkEm(database), task, stored));
    return { state: 'stored' };
  }

  async function recordFailure(
    task: TaskAttempt,
    provider: Provider,
    { job, failure }: Failed,
  ): Promise<Error> {
    const { errorClass, fate, retryAfterMs } = failure;
    const described = describeUpstreamFailure(errorClass, failure.text, job.prompt);
    const em = forkEm(database);
    const rest = restAfter(failure);
    if (rest !== null)
      await startCooldown(em, { family: provider.family, credential: job.credential, ...rest });
    const another = rest !== null && (await hasReadyCredential(em, provider.family, provider.credentials));
    const mayPass = another || (errorClass !== 'auth' && errorClass !== 'quota');
    if (fate === 'not_received' && mayPass) {
      await retryWrite(() => submissions.recordNotReceived(forkEm(database), task, described.errorText));
      return retryLater(described.code, another ? 0 : retryAfterMs);
    }
    const ended =
      fate === 'unknown' ? { ...described, code: 'upstream_outcome_unknown' as const } : described;
    await retryWrite(() => submissions.recordEnded(forkEm(database), task, ended));
    return failTaskWith(ended.code);
  }

  /** Nobody knows whether the vendor took it: where its jobs can be looked up, they are, and never handed over blindly. */
  async function lookFor(task: TaskAttempt, provider: Provider, lost: Lost): Promise<HandedOver> {
    for (let looks = 0; provider.lookUp && looks < LOOKS_MAX; looks += 1) {
      if (looks > 0) await pause(LOOK_AGAIN_MS);
      const found = await lookUp(provider, lost);
      if (found.kind === 'found')
        return recordAnswer(task, { kind: 'accepted', handle: found.handle, upstreamRequestId: null });
      if (found.kind === 'absent') {
        await retryWrite(() => submissions.recordNotReceived(forkEm(database), task, null));
        throw retryLater('upstream_error');
      }
    }
    throw await recordFailure(task, provider, lost);
  }

  /** This attempt has been here before: a worker died, the engine lost sight of it, or an operator reset the workflow. */
  async function resume(
    task: TaskAttempt,
    provider: Provider,
    jobWith: (credential: string) => UpstreamJob,
  ): Promise<HandedOver> {
    await withHeartbeat('waiting for an earlier try', noop, () => waitWhileFresh(task));
    const submission = await submissions.findSubmission(forkEm(database), task);
    switch (submission?.state) {
      case 'accepted':
        return { state: 'accepted' };
      case 'succeeded':
        return { state: submission.outputs ? 'stored' : 'accepted' };
      case 'ended':
        throw failTaskWith(submission.errorCode ?? 'upstream_error');
      case 'not_received': // the earlier try surely did not arrive, so there may be one more
        throw retryLater('upstream_error');
      case 'sending': {
        // Somebody may have called the vendor and died before writing down the answer.
        const job = jobWith(submission.credential ?? '');
        const failure = new UpstreamFailure('transient', 'unknown');
        const lost = { job, sentAt: submission.sentAt, failure };
        return withHeartbeat('looking for the earlier try', noop, () => lookFor(task, provider, lost));
      }
      default: // there is no submission and none may be made: the task has ended
        throw failTaskWith('internal_error');
    }
  }

  /** The engine may give an activity up that is alive: whoever made the call is still waiting for its answer. */
  async function waitWhileFresh(task: TaskAttempt): Promise<void> {
    while (await submissions.isSubmissionFresh(forkEm(database), task, FRESH_SECONDS))
      await pause(LOOK_EVERY_MS);
  }
}

/** What a text model is sent. */
function messagesOf({ prompt, isConversation }: DecryptedRequest, mode: TaskMode): JsonValue[] {
  if (mode !== 'text') return [];
  return isConversation ? JSON.parse(prompt) : [{ role: 'user', content: prompt }];
}

interface Failed {
  job: UpstreamJob;
  failure: UpstreamFailure;
}

interface Lost extends Failed {
  sentAt: Date;
}

async function lookUp(provider: Provider, { job, sentAt }: Lost): Promise<LookUp> {
  try {
    const limit = AbortSignal.timeout(LOOK_LIMIT_MS);
    return (await provider.lookUp?.(job, sentAt, limit)) ?? { kind: 'unclear' };
  } catch (error) {
    if (error instanceof UpstreamFailure) return { kind: 'unclear' };
    throw error;
  }
}

/** How long a credential is passed over after this failure; null where it is not the credential's. */
function restAfter({
  errorClass,
  retryAfterMs,
}: UpstreamFailure): { reason: CooldownReason; seconds: number } | null {
  if (errorClass === 'auth' || errorClass === 'quota')
    return { reason: errorClass, seconds: ACCOUNT_REST_SECONDS };
  if (errorClass !== 'rate' && errorClass !== 'concurrency') return null;
  const seconds = Math.ceil((retryAfterMs ?? RATE_REST_MS) / 1000);
  return { reason: errorClass, seconds: Math.min(Math.max(seconds, 1), RATE_REST_SECONDS_MAX) };
}
