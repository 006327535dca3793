// Handing the work to the vendor: an intent first, one call, and no second one unless the first surely did not arrive.
import { Context } from '@temporalio/activity';
import type { Submission as SubmissionRow } from '../db/entities/tasks.ts';
import { forkEm } from '../db/orm.ts';
import { openRequest } from '../db/requests.ts';
import * as submissions from '../db/submissions.ts';
import { findTask } from '../db/tasks.ts';
import type { TaskAttempt } from '../domain/tasks.ts';
import { UpstreamFailure, type Provider, type Submission, type UpstreamJob } from '../providers/provider.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeUpstreamFailure, failTaskWith, tryAgain } from './failures.ts';
import { abortOnCancel, heartbeating, nothing, pause, untilWritten } from './patience.ts';
import { storeInline } from './results.ts';

/** A submission nobody has kept fresh for so long was abandoned: its worker is dead. */
const FRESH_SECONDS = 15;
const LOOK_EVERY_MS = 500;

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
      const request = await openRequest(em, secrets, task.taskId);
      const provider = row && providers.get(row.adapter);
      if (!row || !request) throw failTaskWith('internal_error');
      if (!provider) throw failTaskWith('model_not_found');
      if (!(await submissions.intendSubmission(em, task))) return resume(task);
      const { upstreamModel, ordered: order } = row;
      const reference = `${task.taskId}:${task.attempt}`;
      return handOver(task, provider, { ...request, reference, upstreamModel, order });
    },
  };

  async function handOver(task: TaskAttempt, provider: Provider, job: UpstreamJob): Promise<HandedOver> {
    const stayFresh = () => submissions.keepSubmissionFresh(forkEm(database), task);
    return heartbeating('waiting for the provider’s answer', stayFresh, async () => {
      const abort = provider.delivery === 'immediate' ? abortOnCancel() : undefined;
      let answer: Submission;
      try {
        answer = await provider.submit(job, abort);
      } catch (error) {
        if (abort?.aborted) return Context.current().cancelled; // rejects: nobody will ever get this result
        if (!(error instanceof UpstreamFailure)) throw error;
        throw await recordFailure(task, error, job.prompt);
      }
      return recordAnswer(task, answer);
    });
  }

  /** The vendor has taken the work, so this must be written down, even if the database is away for a while. */
  async function recordAnswer(task: TaskAttempt, answer: Submission): Promise<HandedOver> {
    if (answer.kind === 'accepted') {
      await untilWritten(() => submissions.recordAccepted(forkEm(database), task, answer));
      return { state: 'accepted' };
    }
    const outputs = await storeInline(dependencies, task, answer.results);
    if (outputs.length === 0) {
      const failure = { code: 'upstream_invalid_response', errorText: null } as const;
      await untilWritten(() => submissions.recordEnded(forkEm(database), task, failure));
      throw failTaskWith(failure.code);
    }
    const images = answer.evidence.images === undefined ? {} : { images: outputs.length };
    const stored = {
      outputs,
      evidence: { ...answer.evidence, ...images },
      upstreamRequestId: answer.upstreamRequestId,
    };
    await untilWritten(() => submissions.recordStored(forkEm(database), task, stored));
    return { state: 'stored' };
  }

  async function recordFailure(task: TaskAttempt, failure: UpstreamFailure, prompt: string): Promise<Error> {
    const described = describeUpstreamFailure(failure.errorClass, failure.text, prompt);
    const mayPass = failure.errorClass !== 'auth' && failure.errorClass !== 'quota';
    if (failure.fate === 'not_received' && mayPass) {
      await untilWritten(() => submissions.recordNotReceived(forkEm(database), task, described.errorText));
      return tryAgain(described.code, failure.retryAfterMs);
    }
    const ended =
      failure.fate === 'unknown' ? { ...described, code: 'upstream_outcome_unknown' as const } : described;
    await untilWritten(() => submissions.recordEnded(forkEm(database), task, ended));
    return failTaskWith(ended.code);
  }

  /** This attempt has been here before: a worker died, the engine lost sight of it, or an operator reset the workflow. */
  async function resume(task: TaskAttempt): Promise<HandedOver> {
    await heartbeating('waiting for an earlier try', nothing, () => waitWhileFresh(task));
    const submission = await submissions.findSubmission(forkEm(database), task);
    switch (submission?.state) {
      case 'accepted':
        return { state: 'accepted' };
      case 'succeeded':
        return { state: submission.outputs ? 'stored' : 'accepted' };
      case 'ended':
        throw failTaskWith(submission.errorCode ?? 'upstream_error');
      case 'not_received': // the earlier try surely did not arrive, so there may be one more
        throw tryAgain('upstream_error');
      case 'sending':
        throw await giveUp(task);
      default: // there is no submission and none may be made: the task has ended
        throw failTaskWith('internal_error');
    }
  }

  /** The engine may give an activity up that is alive: whoever made the call is still waiting for its answer. */
  async function waitWhileFresh(task: TaskAttempt): Promise<void> {
    while (await submissions.isSubmissionFresh(forkEm(database), task, FRESH_SECONDS))
      await pause(LOOK_EVERY_MS);
  }

  /** Somebody may have called the vendor and died before writing down the answer. It is not called again. */
  async function giveUp(task: TaskAttempt): Promise<Error> {
    const code: NonNullable<SubmissionRow['errorCode']> = 'upstream_outcome_unknown';
    await submissions.recordEnded(forkEm(database), task, { code, errorText: null });
    return failTaskWith(code);
  }
}
