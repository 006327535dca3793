// Asking the vendor about a job until it has finished, failed, or is withdrawn.
import { Context } from '@temporalio/activity';
import { forkEm } from '../db/database.ts';
import { decryptPrompts } from '../db/tasks/requests.ts';
import * as submissions from '../db/tasks/submissions.ts';
import { findTask, recordProgress } from '../db/tasks/tasks.ts';
import type { Sealed } from '../db/secrets.ts';
import type { JobHandle } from '../domain/jobs.ts';
import type { TaskAttempt } from '../domain/tasks.ts';
import { URL_CHARACTERS_MAX } from '../domain/urls.ts';
import { withTimeLimit } from '../providers/http/time-limit.ts';
import { UpstreamFailure, type JobState, type Provider, type UpstreamResult } from '../providers/provider.ts';
import { cancelJob, WITHDRAW_LOOK_LIMIT_MS } from './cancel-job.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeUpstreamFailure, failTaskWith } from './failures.ts';
import { pause, withHeartbeat } from './heartbeat.ts';
import { createJobDurations, type JobDurations } from './job-durations.ts';
import { pauseBeforeNextPoll } from './poll-pace.ts';
import { createProgressNotes, type ProgressNotes } from './progress.ts';
import type { KeptResult } from './results.ts';

/** The vendor may not see its own job for a moment after it took it. */
const NOT_FOUND_GRACE_MS = 30_000;
/** Looks in a row that do not find an older job: a proxy before the vendor may answer one with 404. */
const NOT_FOUND_LOOKS = 3;
/** A longer silence counts as no answer; the next look may bring one. */
const LOOK_LIMIT_MS = 30_000;
/** 100 is only for a task that has completed. */
const RUNNING_PROGRESS_MAX = 99;

/** Rarely: thousands of them wait at once, and one whose worker died has only lost its next look. */
const POLLING = { phase: 'polling', everyMs: 20_000 };

interface Job {
  provider: Provider;
  handle: JobHandle;
  /** Adapter and the vendor's name of the model, of which it is known how long jobs usually take. */
  model: string;
  /** Since the hand-over. The worker's clock may not be that of the database, which wrote the time. */
  ageMs(): number;
  /** The vendor's success is recorded already. */
  isFinished: boolean;
}

interface PollingDependencies extends ActivityDependencies {
  progress: ProgressNotes;
  durations: JobDurations;
}

export function createPolling(dependencies: ActivityDependencies) {
  const { database } = dependencies;
  const progress = createProgressNotes((noted) => recordProgress(forkEm(database), noted));
  const polling = { ...dependencies, progress, durations: createJobDurations() };

  return {
    /** Ends when the vendor has finished, fails when it has failed; a look without an answer is neither. */
    async poll(task: TaskAttempt): Promise<void> {
      const job = await findJob(dependencies, task);
      if (!job.isFinished) await withHeartbeat(POLLING, () => pollUntilFinished(polling, task, job));
    },

    /**
     * For a task that is to end early: stops the job where the vendor can, and looks once more.
     * `finished`: the vendor was faster, and the result is to be delivered and charged.
     */
    async withdraw(task: TaskAttempt): Promise<{ state: 'finished' | 'stopped' }> {
      const submission = await submissions.findSubmission(forkEm(database), task);
      if (submission?.state === 'succeeded') return { state: 'finished' };
      if (submission?.state !== 'accepted') return { state: 'stopped' };
      const job = await findJob(dependencies, task);
      if ((await cancelJob(job)) === 'cancelled') return { state: 'stopped' };
      const { state } = await look(job, WITHDRAW_LOOK_LIMIT_MS);
      if (state.kind === 'failed' && state.evidence)
        await submissions.recordBilled(forkEm(database), task, state.evidence);
      if (state.kind !== 'succeeded') return { state: 'stopped' };
      await recordEndState(dependencies, task, state);
      return { state: 'finished' };
    },
  };
}

async function pollUntilFinished(
  dependencies: PollingDependencies,
  task: TaskAttempt,
  job: Job,
): Promise<void> {
  const { cancellationSignal } = Context.current();
  const { progress, durations } = dependencies;
  let refusals = 0;
  let missed = 0;
  let unfinishedMs = 0; // another worker may have looked before
  for (;;) {
    const { state, refusal, isMissing } = await look(job, LOOK_LIMIT_MS, cancellationSignal);
    const ageMs = job.ageMs();
    missed = isMissing ? missed + 1 : 0;
    if (isEnd(state) && (!isMissing || missed >= NOT_FOUND_LOOKS)) {
      const isSeenEnding = state.kind === 'succeeded' && unfinishedMs > 0;
      if (isSeenEnding) durations.note(job.model, { unfinishedMs, finishedMs: ageMs });
      return recordEndState(dependencies, task, state);
    }
    const percent = percentOf(state);
    if (percent > 0) progress.note({ task, percent });
    unfinishedMs = ageMs;
    refusals = refusal ? refusals + 1 : 0;
    const retryAfterMs = refusal?.retryAfterMs ?? null;
    const polled = { ageMs, refusals, retryAfterMs, usualDuration: durations.usualOf(job.model) };
    await pause(pauseBeforeNextPoll(polled, Math.random()));
  }
}

async function findJob({ database, providers }: ActivityDependencies, task: TaskAttempt): Promise<Job> {
  const em = forkEm(database);
  const submission = await submissions.findSubmission(em, task);
  const row = await findTask(em, task.taskId);
  if (submission?.state === 'ended') throw failTaskWith(submission.errorCode ?? 'upstream_error');
  const provider = row && providers.get(row.adapter);
  if (!submission?.handle || !row || !provider?.poll) throw failTaskWith('internal_error');
  const isFinished = submission.state === 'succeeded';
  const model = `${row.adapter}:${row.upstreamModel}`;
  const beganAt = performance.now() - submission.ageMs;
  const ageMs = () => performance.now() - beganAt;
  return { provider, handle: submission.handle, model, ageMs, isFinished };
}

type EndState = Exclude<JobState, { kind: 'queued' | 'running' }>;

function isEnd(state: JobState): state is EndState {
  return state.kind !== 'queued' && state.kind !== 'running';
}

/** Zero where the vendor says nothing. */
function percentOf(state: JobState): number {
  const percent = state.kind === 'running' ? Math.floor(state.progress ?? 0) : 0;
  return Math.min(percent, RUNNING_PROGRESS_MAX);
}

/**
 * Ends when the vendor has finished. Throws when it has failed. The first of these is recorded and stands,
 * also where another worker recorded it since the job was found: one that is cut off from Temporal alone goes
 * on.
 */
async function recordEndState(
  dependencies: ActivityDependencies,
  task: TaskAttempt,
  state: EndState,
): Promise<void> {
  const em = forkEm(dependencies.database);
  if (state.kind === 'succeeded') {
    const success = { results: sealResults(dependencies, task, state.results), evidence: state.evidence };
    if (await submissions.recordSucceeded(em, task, success)) return;
  } else {
    const failure = await describeEnd(dependencies, task, state);
    const evidence = state.kind === 'failed' ? state.evidence : undefined;
    if (await submissions.recordEnded(em, task, failure, evidence)) throw failTaskWith(failure.code);
  }
  const submission = await submissions.findSubmission(em, task);
  if (submission?.state !== 'succeeded') throw failTaskWith(submission?.errorCode ?? 'upstream_error');
}

function sealResults(
  { secrets }: Pick<ActivityDependencies, 'secrets'>,
  { taskId, attempt }: TaskAttempt,
  results: readonly UpstreamResult[],
): Sealed {
  return secrets.seal('result', `${taskId}:${attempt}`, JSON.stringify(results.map(toKeptResult)));
}

async function describeEnd(
  { database, secrets }: ActivityDependencies,
  { taskId }: TaskAttempt,
  state: Exclude<EndState, { kind: 'succeeded' }>,
): Promise<ReturnType<typeof describeUpstreamFailure>> {
  if (state.kind !== 'failed') return { code: 'upstream_error', errorText: null };
  const prompts = await decryptPrompts(forkEm(database), secrets, [taskId]);
  return describeUpstreamFailure(state.errorClass, state.text, prompts.get(taskId) ?? '');
}

/** Bytes that come in the answer itself stay with the vendor until they are copied to our storage. */
function toKeptResult(result: UpstreamResult, index: number): KeptResult {
  return result.kind === 'inline' || result.kind === 'text' ? { kind: 'poll_again', index } : result;
}

interface Look {
  state: JobState;
  /** The failure of a look that the vendor refused because it is asked too often; null for every other. */
  refusal: UpstreamFailure | null;
  /** The vendor does not find the job, which is past its first moments: the state is `expired`. */
  isMissing: boolean;
}

/** Asks once. Trouble on the way counts as "still running": the deadline ends the job, not a bad minute. */
async function look({ provider, handle, ageMs }: Job, limitMs: number, signal?: AbortSignal): Promise<Look> {
  const running = { kind: 'running', progress: null } as const;
  try {
    const state = await withTimeLimit(limitMs, signal, async (limit) => provider.poll?.(handle, limit));
    return { state: state ? withKeepableLinks(state) : running, refusal: null, isMissing: false };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const isMissing = error.errorClass === 'expired' && ageMs() > NOT_FOUND_GRACE_MS;
    const refusal = error.errorClass === 'rate' ? error : null;
    return { state: isMissing ? { kind: 'expired' } : running, refusal, isMissing };
  }
}

/** A link that is too long to be fetched is not kept either: answers may have megabytes. */
function withKeepableLinks(state: JobState): JobState {
  if (state.kind !== 'succeeded') return state;
  const isTooLong = state.results.some((result) => 'url' in result && result.url.length > URL_CHARACTERS_MAX);
  const { evidence } = state;
  return isTooLong ? { kind: 'failed', errorClass: 'invalid_response', text: null, evidence } : state;
}
