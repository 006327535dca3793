// What the creation and the retry of a task share: resuming one that was begun, the workflow's verdict,
// refusals.
import type { Task } from '../../db/entities/tasks.ts';
import { findAccount } from '../../db/ledger/accounts.ts';
import type { CreateRefusal } from '../../db/tasks/new-tasks.ts';
import { findOwnTask } from '../../db/tasks/tasks.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { ERRORS, GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { maskText } from '../../domain/masking/masking.ts';
import type { AdmissionVerdict } from '../../workflows/client.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';

/** A waiting task looks for a free slot at least this often: the queue may not have moved before. */
const QUEUE_FULL_RETRY_MS = 15_000;

/**
 * The task that an earlier request with the same idempotency key wrote before its process died; null: none.
 */
export async function findResumedTask({
  em,
  caller,
  idempotency,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Task | null> {
  return idempotency?.resumedId ? findOwnTask(em, caller.user.id, idempotency.resumedId) : null;
}

/**
 * Starts the workflow of a written task and waits for the verdict of its first steps. Throws the refusal, if
 * it comes in time; returns the task as written otherwise. An engine that does not answer only delays the
 * task.
 */
export async function admitTask(ctx: RequestContext<KeyCaller | SessionCaller>, task: Task): Promise<Task> {
  ctx.trace.taskId = task.id;
  const origin = { requestId: maskText(ctx.requestId) };
  const verdict = await ctx.services.taskWorkflows.admitTask(task, ctx.services.admissionWaitMs, origin);
  if (verdict.kind === 'refused') throw await verdictError(ctx, task, verdict);
  if (verdict.kind === 'pending')
    ctx.services.log.warn({ taskId: task.id, requestId: ctx.requestId }, 'the engine did not answer in time');
  return task;
}

/** The error of a row that was not written. `required` is the estimate of the task. */
export function createRefusalError(
  { services, limitBackend }: RequestContext<KeyCaller | SessionCaller>,
  refusal: CreateRefusal,
  required: MicroCredits,
): GatewayError {
  if (refusal.kind === 'insufficient_credits') return insufficientCredits(required, refusal.available);
  if (refusal.kind !== 'queue_full') return new GatewayError(refusal.kind);
  const waitingQuota = { name: 'waiting-tasks', points: services.waitingTasksPerUserMax, seconds: null };
  return services.limits.refuse('queue_full', waitingQuota, {
    backend: limitBackend,
    resetMs: QUEUE_FULL_RETRY_MS,
  });
}

async function verdictError(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  task: Task,
  verdict: Extract<AdmissionVerdict, { kind: 'refused' }>,
): Promise<GatewayError> {
  if (verdict.code === 'insufficient_credits') {
    const { balance, reserved } = await findAccount(ctx.em.fork(), task.userId);
    return insufficientCredits(task.creditsEstimate, balance - reserved);
  }
  return new GatewayError(isErrorCode(verdict.code) ? verdict.code : 'internal_error');
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function insufficientCredits(required: MicroCredits, available: MicroCredits): GatewayError {
  const extra = { required: toCredits(required), available: toCredits(available) };
  return new GatewayError('insufficient_credits', { extra });
}
