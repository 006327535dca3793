// Handing work to the vendor: intent first, one call, and no second one unless the first surely did not
// arrive.
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { forkEm, type Database } from '../db/database.ts';
import type { CredentialChoice } from '../db/tasks/credentials.ts';
import { decryptRequest, type DecryptedRequest } from '../db/tasks/requests.ts';
import * as submissions from '../db/tasks/submissions.ts';
import { findCancelRequested } from '../db/tasks/sweep.ts';
import { findTask } from '../db/tasks/tasks.ts';
import type { Model } from '../domain/catalog/catalog.ts';
import { familyUpstream, upstreamsOf, type Upstream } from '../domain/catalog/upstream.ts';
import type { JsonValue } from '../domain/json.ts';
import type { TaskAttempt, TaskMode } from '../domain/tasks.ts';
import { UpstreamFailure, type Provider, type Submission, type UpstreamJob } from '../providers/provider.ts';
import type { Task } from '../db/entities/tasks.ts';
import type { HandOverTry } from './accepted-job.ts';
import { retryWrite } from './activity-retry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createFamilySlots } from './family-slots.ts';
import { failTaskWith, retryLater } from './failures.ts';
import { createHandOvers, type HandOvers } from './hand-overs.ts';
import { abortOnCancel, isRunGivenUp, pause, withHeartbeat } from './heartbeat.ts';
import { lookForLostJob } from './lost-job.ts';
import { WaitingWork } from './waiting-work.ts';
import { recordAnswer, recordRefusal, type HandOverState } from './submission-outcome.ts';

/** A submission that was not kept fresh for so long is abandoned: its worker is dead. */
const FRESH_SECONDS = 15;
const FRESH_CHECK_INTERVAL_MS = 500;
/** A vendor that is slow beyond this many hand-overs in one process only delays its own family. */
const HAND_OVERS_PER_FAMILY_MAX = 1_000;
/** Wait before the next try when that many are under way. */
const SLOT_WAIT_MS = 2_000;
const INTENT = { phase: 'choosing a credential', everyMs: 4_000 };
const EARLIER_TRY = { phase: 'waiting for an earlier try', everyMs: 4_000 };
const LOOK_UP = { phase: 'looking for the earlier try', everyMs: 4_000 };

export function createSubmission(
  dependencies: ActivityDependencies,
  handOversPerFamilyMax = HAND_OVERS_PER_FAMILY_MAX,
) {
  const { database, secrets, providers, models } = dependencies;
  const slots = createFamilySlots(handOversPerFamilyMax);
  const waiting = new WaitingWork();
  const handOvers = createHandOvers({
    keepFresh: (tasks) => submissions.keepSubmissionsFresh(forkEm(database), tasks),
    findCancelRequested: () => findCancelRequested(forkEm(database)),
  });

  return {
    async submit(task: TaskAttempt): Promise<HandOverState> {
      const row = await findTask(forkEm(database), task.taskId);
      if (!row) throw failTaskWith('internal_error');
      const provider = providers.get(row.adapter);
      if (!provider) throw failTaskWith('model_not_found');
      const handedOver = await slots.run(provider.family, () => submitInSlot(task, row, provider));
      if (handedOver === null) throw retryLater('upstream_rate_limited', SLOT_WAIT_MS);
      return handedOver;
    },
  };

  /** Decrypts the request only here: it may have 32 MB, and a task without a slot must not hold that. */
  async function submitInSlot(task: TaskAttempt, row: Task, provider: Provider): Promise<HandOverState> {
    const em = forkEm(database);
    const request = await decryptRequest(em, secrets, task.taskId);
    if (!request) throw failTaskWith('internal_error');
    const { upstreamModel, ordered: order, userId } = row;
    const reference = `${task.taskId}:${task.attempt}`;
    const messages = messagesOf(request, row.mode);
    const jobWith = (credential: string) => ({
      ...request,
      messages,
      reference,
      credential,
      upstreamModel,
      order,
      upstreams: row.mode === 'text' ? upstreamsFor(models.get(row.model), row) : [],
      userId,
    });
    const intent = await intend(database, task, choiceOf(provider, upstreamModel));
    if (intent.kind === 'busy') throw waitForPlace(row, provider);
    waiting.end(provider.family, task.taskId);
    if (intent.kind === 'already_submitted') return resume(dependencies, { task, provider }, jobWith);
    const handOverTry = { task: { ...task, sentAt: intent.sentAt }, provider };
    return handOver(dependencies, handOvers, handOverTry, jobWith(intent.credential));
  }

  /** For work that has to wait since its vendor has as much as it may have; it holds no slot meanwhile. */
  function waitForPlace(task: Task, { family }: Provider): Error {
    return retryLater('upstream_rate_limited', waiting.wait(family, task, Date.now()));
  }

  function choiceOf({ family, credentialsFor }: Provider, upstreamModel: string): CredentialChoice {
    const credentials = credentialsFor(upstreamModel);
    return { family, credentials, jobsPerCredentialMax: providers.jobsPerCredentialMax(family) };
  }
}

/**
 * Writes the intent, and repeats that until it is answered: the database may have written it and not said so,
 * and another run of this activity could not know that the vendor was never called. Rejects when this run is
 * given up meanwhile, as by a cancellation or at the deadline: the work is not to be handed over any more.
 */
function intend(
  database: Database,
  task: TaskAttempt,
  choice: CredentialChoice,
): Promise<submissions.Intent> {
  const tried = { ...task, tryId: randomUUID() };
  const write = () => submissions.intendSubmission(forkEm(database), tried, choice);
  return withHeartbeat(INTENT, async () => {
    const intent = await retryWrite(write, requireWanted);
    if (intent.kind === 'proceed' && isRunGivenUp()) {
      const { sentAt } = intent;
      await retryWrite(() => submissions.recordNotReceived(forkEm(database), { ...task, sentAt }, null));
      await requireWanted();
    }
    return intent;
  });
}

/** Rejects, as a cancelled activity does, when this run is given up. */
async function requireWanted(): Promise<void> {
  if (isRunGivenUp()) await Context.current().cancelled;
}

/** Calls the vendor, once. */
async function handOver(
  dependencies: ActivityDependencies,
  handOvers: HandOvers,
  handOverTry: HandOverTry,
  job: UpstreamJob,
): Promise<HandOverState> {
  const { task, provider } = handOverTry;
  return handOvers.run(task, 'waiting for the provider’s answer', async () => {
    const abort = provider.delivery === 'immediate' ? abortOnCancel() : undefined;
    const sentAt = new Date();
    let answer: Submission;
    try {
      answer = await provider.submit(job, abort);
    } catch (error) {
      if (abort?.aborted) return Context.current().cancelled; // rejects: this result is lost to everyone
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.fate === 'unknown')
        return lookForLostJob(dependencies, handOverTry, { job, sentAt, failure: error });
      throw await recordRefusal(dependencies, handOverTry, { job, failure: error });
    }
    return recordAnswer(dependencies, handOverTry, answer);
  });
}

/**
 * For an attempt submitted before: a worker died, Temporal lost sight of it, or an operator reset the run.
 */
async function resume(
  dependencies: ActivityDependencies,
  { task, provider }: { task: TaskAttempt; provider: Provider },
  jobWith: (credential: string) => UpstreamJob,
): Promise<HandOverState> {
  const { database } = dependencies;
  await withHeartbeat(EARLIER_TRY, () => waitWhileFresh(dependencies, task));
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
      // The earlier try may have called the vendor and died before it recorded the answer.
      const job = jobWith(submission.credential ?? '');
      const failure = new UpstreamFailure('transient', 'unknown');
      const { sentAt } = submission;
      const handOverTry = { task: { ...task, sentAt }, provider };
      const lost = { job, sentAt, failure };
      return withHeartbeat(LOOK_UP, () => lookForLostJob(dependencies, handOverTry, lost));
    }
    default: // there is no submission and none may be made: the task has ended
      throw failTaskWith('internal_error');
  }
}

/** Temporal may give up an activity that is alive: its worker may still wait for the vendor. */
async function waitWhileFresh({ database }: ActivityDependencies, task: TaskAttempt): Promise<void> {
  while (await submissions.isSubmissionFresh(forkEm(database), task, FRESH_SECONDS))
    await pause(FRESH_CHECK_INTERVAL_MS);
}

/** Those that the catalogue has now; a model that was taken out of it is asked at its own family. */
function upstreamsFor(model: Model | undefined, { family, upstreamModel }: Task): readonly Upstream[] {
  return model ? upstreamsOf(model) : [familyUpstream(family, upstreamModel)];
}

/** The messages that a text model is sent; none for the other modes. */
function messagesOf({ prompt, isConversation }: DecryptedRequest, mode: TaskMode): JsonValue[] {
  if (mode !== 'text') return [];
  return isConversation ? JSON.parse(prompt) : [{ role: 'user', content: prompt }];
}
