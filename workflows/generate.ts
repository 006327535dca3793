// The story of one attempt of one task, as Temporal runs it and operators read it.
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  continueAsNew,
  isCancellation,
  patched,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { ApplicationFailureCategory } from '@temporalio/common';
import { isFinal, type TaskAttempt, type TaskStatus } from '../domain/tasks.ts';
import * as activities from './activities.ts';
import { failureCodeOf, sentenceOf } from './failures.ts';
import { SEARCH_ATTRIBUTES, type GenerateInput } from './names.ts';

/** How long a run waits for the request that goes with a task that is already cancelled. */
const CANCELLATION_ARRIVES_WITHIN = '10s';

/**
 * Temporal warns of a history with 10,240 events and ends a run with 51,200. A look for a slot makes six,
 * every 15 seconds: so a run waits for seven hours, not for the 35 after which its task would fail.
 */
const WAITING_EVENTS_MAX = 10_000;

/** Room for what may come after the deadline: the withdrawal, half an hour for the result, the charge. */
const AFTER_DEADLINE_MS = 3_600_000;

/** Where the finished work is: in our storage, or still at the vendor. */
type ResultLocation = 'stored' | 'upstream';

/**
 * estimate and reserve → wait for a slot → submit → poll → store → charge. The run ends Completed if and only
 * if the task completed; a failed one ends Failed, a cancelled one Canceled.
 */
export async function generate(input: GenerateInput): Promise<void> {
  const task: TaskAttempt = { taskId: input.taskId, attempt: input.attempt };
  try {
    let { status } = await admit(task);
    if (!isFinal(status)) ({ status } = await waitForSlot(input, task, status));
    if (isFinal(status)) return await reportFinalStatus(status); // cancelled meanwhile, a late start, an operator's Reset
    const location = await generateUpstream(input, task);
    await CancellationScope.nonCancellable(() => deliver(task, location));
  } catch (reason) {
    if (reason instanceof ContinueAsNew) throw reason;
    const error = wasCancelledMeanwhile(reason) ? new CancelledFailure('The task was cancelled.') : reason;
    const outcome = await CancellationScope.nonCancellable(() => end(task, error));
    if (outcome !== 'completed') throw isCancellation(error) ? error : asFailure(error);
  }
}

/**
 * Prices the order, sets the credits aside and takes a slot, in one step: each step is a turn of the workflow
 * and a message to it. A worker of an earlier release did the first part only, which its answer shows, and
 * recorded a step for each of the others.
 */
async function admit(task: TaskAttempt): Promise<{ status: TaskStatus }> {
  const { status, isReserved } = await activities.estimate(task);
  if (isReserved || isFinal(status)) return { status };
  const reserved = await activities.reserve(task);
  return isFinal(reserved.status) ? reserved : activities.begin(task);
}

/**
 * A user has a limited number of tasks in progress; the others wait here, and can be cancelled while they
 * do. A long wait goes on in a new run, which finds the credits reserved. Runs that an earlier release began
 * have no such end in their histories; they come to it with their next look.
 */
async function waitForSlot(
  input: GenerateInput,
  task: TaskAttempt,
  first: TaskStatus,
): Promise<{ status: TaskStatus }> {
  let status = first;
  for (let waitMs = 1000; status === 'queued'; waitMs = Math.min(waitMs * 1.5, 15_000)) {
    requireTimeForWork(input);
    // A cancelled run ends in `sleep`: a new one would not know of a request that came with the last answer.
    const isCancelled = CancellationScope.current().consideredCancelled;
    if (!isCancelled && workflowInfo().historyLength >= WAITING_EVENTS_MAX && patched('wait-in-new-run'))
      await continueAsNew<typeof generate>(input);
    setCurrentDetails('Queued: waiting for one of this user’s other tasks to end.');
    await sleep(waitMs * (0.75 + Math.random() / 2));
    ({ status } = await activities.begin(task));
  }
  if (status === 'in_progress') {
    requireTimeForWork(input);
    publishStatus('in_progress', 'Handing the work to the provider.');
  }
  return { status };
}

/**
 * Throws when Temporal may end the run before the vendor's job is withdrawn or delivered, which the vendor
 * would bill all the same: the time until then counts from the start of the attempt's first run.
 */
function requireTimeForWork({ deadlineSeconds }: GenerateInput): void {
  const { executionExpirationTime } = workflowInfo();
  if (!executionExpirationTime) return;
  const neededMs = deadlineSeconds * 1000 + AFTER_DEADLINE_MS;
  if (Date.now() + neededMs > executionExpirationTime.getTime() && patched('slot-in-time'))
    throw failRun(sentenceOf('queue_full'), 'queue_full');
}

/** The work is with the vendor from here on, until the deadline at most. */
async function generateUpstream(input: GenerateInput, task: TaskAttempt): Promise<ResultLocation> {
  const deadlineAt = Date.now() + input.deadlineSeconds * 1000;
  const untilDeadline = (summary: string) => ({
    scheduleToCloseTimeout: Math.max(1, deadlineAt - Date.now()),
    summary: `${summary}: ${input.model}, attempt ${input.attempt}`,
  });
  const handOver = untilDeadline(`Hand over to ${input.provider}`);
  const handedOver = await activities.submit.executeWithOptions(handOver, [task]);
  if (handedOver.state === 'stored') return 'stored';
  setCurrentDetails('The provider is working on it.');
  await activities.poll.executeWithOptions(untilDeadline(`Wait for ${input.provider}`), [task]);
  return 'upstream';
}

/** The upstream has finished: only the result and the charge are left, and no cancellation stops them. */
async function deliver(task: TaskAttempt, location: ResultLocation): Promise<void> {
  if (location === 'upstream') {
    setCurrentDetails('Copying the result to our storage.');
    await activities.store(task);
  }
  const { status } = await activities.charge(task);
  await reportFinalStatus(status);
}

/**
 * Whether the task was cancelled although it is another failure that broke the story off: a time that ran out
 * in the same activation, or a try that is not repeated because of the cancellation. What the vendor itself
 * said of the work stands.
 */
function wasCancelledMeanwhile(error: unknown): boolean {
  if (isCancellation(error) || !CancellationScope.current().consideredCancelled) return false;
  const isTimeOut = ['upstream_timeout', 'queue_full'].includes(failureCodeOf(error));
  const isNotRepeated = error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED';
  return (isTimeOut || isNotRepeated) && patched('cancelled-meanwhile');
}

/** Does what is left to do when the story breaks off. Answers the status the task really has afterwards. */
async function end(task: TaskAttempt, error: unknown): Promise<TaskStatus> {
  const cancelled = isCancellation(error);
  const code = failureCodeOf(error);
  try {
    if (cancelled || code === 'upstream_timeout') {
      const { state } = await activities.withdraw(task);
      if (state === 'finished') {
        await deliver(task, 'upstream'); // the upstream was faster: delivery and charge win
        return 'completed';
      }
    }
  } catch (deliveryError) {
    return recordEnd(task, failureCodeOf(deliveryError), cancelled);
  }
  return recordEnd(task, code, cancelled);
}

async function recordEnd(
  task: TaskAttempt,
  code: ReturnType<typeof failureCodeOf>,
  cancelled: boolean,
): Promise<TaskStatus> {
  const { status } = cancelled
    ? await activities.recordCancellation(task)
    : await activities.recordFailure({ ...task, code });
  publishStatus(status, status === 'failed' ? sentenceOf(code) : 'The task has ended.');
  return status;
}

async function reportFinalStatus(status: TaskStatus): Promise<void> {
  publishStatus(status, 'The task has ended.');
  // The request follows the row within moments: it ends this sleep, and the run as Canceled.
  if (status === 'cancelled') await sleep(CANCELLATION_ARRIVES_WITHIN);
  if (status !== 'completed') throw failRun(`The task had already ended as ${status}.`, 'already_ended');
}

function asFailure(error: unknown): ApplicationFailure {
  if (isCancellation(error)) return failRun('The task was cancelled.', 'task_cancelled');
  const code = failureCodeOf(error);
  return failRun(sentenceOf(code), code);
}

/** The error that ends a run as Failed: an outcome for operators to read, not an alarm. */
function failRun(message: string, type: string): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ message, type, nonRetryable: true, category });
}

function publishStatus(status: TaskStatus, details: string): void {
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.taskStatus, value: status }]);
  setCurrentDetails(details);
}
