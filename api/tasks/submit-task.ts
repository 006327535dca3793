// Creating and retrying tasks: the row first, then the workflow, then the verdict of its first steps.
import { findAccount } from '../../db/ledger/accounts.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { makeId } from '../../db/ids.ts';
import { sealRequest } from '../../db/tasks/requests.ts';
import { findOwnTask } from '../../db/tasks/tasks.ts';
import { hasMissingUploads } from '../../db/uploads.ts';
import { createTask, retryTask, type CreateRefusal, type NewTask } from '../../db/tasks/new-tasks.ts';
import type { Model } from '../../domain/catalog/catalog.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { ERRORS, GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { checkInputImages } from '../../domain/files/input-images.ts';
import type { JsonValue } from '../../domain/json.ts';
import { maskPayload, maskText } from '../../domain/masking/masking.ts';
import { renewOrder, resolveOrder } from '../../domain/orders/resolve-order.ts';
import { quote, snapshotPrice, type Quote } from '../../domain/pricing.ts';
import type { AdmissionVerdict } from '../../workflows/client.ts';
import type { RequestContext, KeyCaller, SessionCaller } from '../context.ts';
import { beginOnce } from '../idempotent-effects.ts';
import { bindUploads, readInputVideos, type InputVideos } from '../uploads/input-videos.ts';
import type { Em } from '../../db/database.ts';
import { type Order, type OrderInput } from '../../domain/orders/order.ts';

/** A request for a task, read from a body. */
export interface TaskRequest {
  /** The id of a model, not yet looked up. */
  model: string;
  input: OrderInput;
}

export interface PricedOrder {
  model: Model;
  order: Order;
  quote: Quote;
  inputVideos: InputVideos;
}

/** How often a waiting task asks for its place at the latest: earlier nobody may have left the queue. */
const QUEUE_FULL_RETRY_MS = 15_000;

/** Checks a request against the model and prices it. Nothing is written. */
export async function priceRequest(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  request: TaskRequest,
): Promise<PricedOrder> {
  const model = ctx.services.catalog.models.get(request.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  const { input } = request;
  if (model.kind !== input.mode) throw new GatewayError('model_not_supported', { param: 'model' });
  const scope = ctx.caller.proof === 'key' ? ctx.caller.key.modelScope : null;
  if (scope && !scope.includes(model.id)) throw new GatewayError('model_not_allowed', { param: 'model' });
  const order = resolveOrder(model, input);
  const media = input.mode === 'text' ? null : input;
  if (media) checkInputImages(media.inputImages, media.names.inputImages);
  const inputVideos = await readInputVideos(ctx, media?.inputVideos ?? []);
  return { model, order, quote: quote(snapshotPrice(model), order), inputVideos };
}

/** Creates the task. Throws 402 when the credits do not cover it, 429 when too many are waiting. */
export async function submitTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  request: TaskRequest,
): Promise<Task> {
  const begun = await findBegun(ctx);
  if (begun) return begun;
  const { services, caller } = ctx;
  const { model, order, quote: estimate, inputVideos } = await priceRequest(ctx, request);
  const { input } = request;
  const isConversation = input.mode === 'text' && Array.isArray(ctx.body['messages']);
  const id = makeId('task');
  const task: NewTask = {
    id,
    userId: caller.user.id,
    keyId: caller.proof === 'key' ? caller.key.id : null,
    mode: model.kind,
    model: model.id,
    ...placeOf(model),
    ordered: order,
    price: snapshotPrice(model),
    creditsEstimate: estimate.total,
    requestPayload: maskRequest(ctx.body, isConversation),
    sealed: sealRequest(services.secrets, id, {
      prompt: input.prompt,
      inputImages: input.mode === 'text' ? [] : [...input.inputImages],
      inputVideos: inputVideos.urls,
      isConversation,
    }),
  };
  const create = async (em: Em): Promise<Task> => {
    const created = await createTask(em, task, services.waitingTasksPerUserMax);
    if ('kind' in created) throw refusal(ctx, created, estimate.total);
    await bindUploads(em, { taskId: id, userId: task.userId }, inputVideos);
    return created;
  };
  const isPlain = inputVideos.uploadIds.length === 0;
  const created = await beginOnce(ctx, id, isPlain ? create : (em) => em.transactional(create));
  return admit(ctx, created);
}

/** Puts a failed task of the caller back into the queue, at today's price. */
export async function retryFailedTask(ctx: RequestContext<SessionCaller>, task: Task): Promise<Task> {
  const begun = await findBegun(ctx);
  if (begun) return begun;
  const { services } = ctx;
  if (task.status !== 'failed' || (await hasMissingUploads(ctx.em, task.id)))
    throw new GatewayError('task_not_retryable');
  const model = services.catalog.models.get(task.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  const ordered = renewOrder(model, task.ordered);
  const price = snapshotPrice(model);
  const creditsEstimate = quote(price, ordered).total;
  const renewed = { ...placeOf(model), ordered, price, creditsEstimate };
  const retried = await beginOnce(ctx, task.id, async (em) => {
    const retried = await retryTask(em, task, renewed, services.waitingTasksPerUserMax);
    if (!('kind' in retried)) return retried;
    if (retried.kind === 'not_retryable') throw new GatewayError('task_not_retryable');
    throw refusal(ctx, retried, creditsEstimate);
  });
  return admit(ctx, retried);
}

/** The task that an earlier request with the same idempotency key wrote, and died before it answered. */
async function findBegun({
  em,
  caller,
  idempotency,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Task | null> {
  return idempotency?.resumedId ? findOwnTask(em, caller.user.id, idempotency.resumedId) : null;
}

/** Where the work of a model is done. */
function placeOf({ family, adapter, upstreamModel }: Model) {
  return { family, adapter, upstreamModel };
}

/** The task as written, unless the workflow refuses it at once; an engine that is away only delays it. */
async function admit(ctx: RequestContext<KeyCaller | SessionCaller>, task: Task): Promise<Task> {
  ctx.trace.taskId = task.id;
  const origin = { requestId: maskText(ctx.requestId) };
  const verdict = await ctx.services.taskWorkflows.admitTask(task, ctx.services.admissionWaitMs, origin);
  if (verdict.kind === 'refused') throw await explainVerdict(ctx, task, verdict);
  if (verdict.kind === 'pending')
    ctx.services.log.warn({ taskId: task.id, requestId: ctx.requestId }, 'the engine did not answer in time');
  return task;
}

async function explainVerdict(
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

function refusal(
  { services, limitBackend }: RequestContext<KeyCaller | SessionCaller>,
  refused: CreateRefusal,
  required: MicroCredits,
): GatewayError {
  if (refused.kind === 'insufficient_credits') return insufficientCredits(required, refused.available);
  if (refused.kind !== 'queue_full') return new GatewayError(refused.kind);
  const places = { name: 'waiting-tasks', points: services.waitingTasksPerUserMax, seconds: null };
  return services.limits.refuse('queue_full', places, {
    backend: limitBackend,
    resetMs: QUEUE_FULL_RETRY_MS,
  });
}

function insufficientCredits(required: MicroCredits, available: MicroCredits): GatewayError {
  const extra = { required: toCredits(required), available: toCredits(available) };
  return new GatewayError('insufficient_credits', { extra });
}

/** The payload as readers see it. The prompt is kept encrypted, apart, and put back for its owner. */
function maskRequest(
  body: { [field: string]: unknown },
  isConversation: boolean,
): { [field: string]: JsonValue } {
  const { prompt: _prompt, messages: _messages, ...rest } = body;
  // The conversation is a prompt, too: its place is kept, and it is put back for its owner.
  const place = isConversation ? { messages: null } : {};
  // It was parsed from JSON, whatever the type says; a copy of 32 MB would cost everybody else their turn.
  const masked = maskPayload({ ...rest, ...place });
  return typeof masked === 'object' && masked !== null && !Array.isArray(masked) ? masked : {};
}
