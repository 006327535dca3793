// `Prefer: wait=N` (RFC 7240): holds an answer until its task has ended, or N seconds.
import { ERRORS, GatewayError, type ErrorCode } from '../../domain/errors.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { isId } from '../../db/ids.ts';
import type { Reply, RequestContext } from '../context.ts';
import type { Services } from '../services.ts';
import type { ReadTask } from '../../db/changes.ts';

/** Longest wait in seconds; a longer one is cut to this. */
export const WAIT_SECONDS_MAX = 60;
/** After this, one of the user's waiting calls may have ended. */
const RETRY_MS = 1_000;

export interface WaitingRoute {
  /** Answers the request as without the preference: 202, or 200 with `retry-after` while the task is open. */
  answer: () => Promise<Reply>;
  /** Reads the created task once it is completed; null on routes that read, which answer again instead. */
  readCreated: ((taskId: string) => Promise<Reply>) | null;
}

/**
 * Answers when the task has ended, or after the preferred time as without the preference. Throws the error of
 * a created task that failed in time, and 429 when too many calls of the user are waiting in this process.
 */
export async function answerWhenEnded(ctx: RequestContext, route: WaitingRoute): Promise<Reply> {
  const seconds = readWait(ctx.header('prefer'));
  if (seconds === null || ctx.caller.proof === 'none') return route.answer();
  const release = takeSlot(ctx, ctx.caller.user.id);
  const applied = { 'preference-applied': `wait=${seconds}` };
  const timeUp = AbortSignal.timeout(seconds * 1000);
  try {
    const reply = await route.answer();
    const taskId = openTaskOf(ctx, reply);
    ctx.dropBody();
    const signals = [timeUp, ctx.disconnected(), ctx.services.stopping];
    const ended = taskId && (await ctx.services.events.watcher.awaitEnd(taskId, AbortSignal.any(signals)));
    const final = ended ? await readEnded(ctx.services, route, reply, ended) : reply;
    return { ...final, headers: { ...final.headers, ...applied } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, param, extra, headers, cause } = error;
    throw new GatewayError(code, { message, param, extra, headers: { ...headers, ...applied }, cause });
  } finally {
    release();
  }
}

/**
 * Reads the seconds of `wait`; null without one. What else is preferred, and a malformed value, is ignored.
 */
export function readWait(header: string | null): number | null {
  for (const preference of (header ?? '').split(',')) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference) ?? [];
    if (seconds !== undefined) return Math.min(Number(seconds), WAIT_SECONDS_MAX);
  }
  return null;
}

function takeSlot({ services, limitBackend }: RequestContext, userId: string): () => void {
  const { waits } = services.events;
  const release = waits.take(userId);
  if (release) return release;
  const quota = { name: 'waiting-calls', points: waits.max, seconds: null };
  throw services.limits.refuse('rate_limited', quota, { backend: limitBackend, resetMs: RETRY_MS });
}

/**
 * The id of the open task that an answer is about: of a created one in `location`, of a read one in the
 * path.
 */
function openTaskOf({ params }: RequestContext, { headers = {} }: Reply): string | null {
  if (headers['retry-after'] === undefined) return null;
  const id = headers['location']?.split('/').at(-1) ?? params['id'] ?? '';
  return isId('task', id) ? id : null;
}

async function readEnded(
  { log }: Services,
  { answer, readCreated }: WaitingRoute,
  created: Reply,
  { task }: ReadTask,
): Promise<Reply> {
  if (!readCreated) return answer();
  const replayed = created.headers?.['idempotent-replayed'];
  const headers = replayed === undefined ? {} : { 'idempotent-replayed': replayed };
  if (task.status !== 'completed') throw failureOf(task, headers);
  const reply = await readCreated(task.id).catch((error: unknown) => {
    if (error instanceof GatewayError && error.status < 500) throw error;
    log.warn({ err: error, taskId: task.id }, 'a completed task could not be read for its creation');
    return null;
  });
  // The task is there and charged: an error of ours would have clients order it once more.
  return reply ? { ...reply, headers: { ...reply.headers, ...headers } } : created;
}

/** The error of a task that did not complete, with the sentence that its owner reads in the task. */
function failureOf(
  { id, status, errorCode, errorMessage }: Task,
  headers: Readonly<Record<string, string>>,
): GatewayError {
  const code = status === 'cancelled' ? 'task_cancelled' : errorCode;
  const told = { extra: { task_id: id }, headers };
  if (!code || !isErrorCode(code)) return new GatewayError('internal_error', told);
  return new GatewayError(code, { ...told, ...(errorMessage ? { message: errorMessage } : {}) });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
