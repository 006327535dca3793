// Handles the Idempotency-Key of idempotent routes: replays stored answers, stores answers that came later.
import { hash } from 'node:crypto';
import { identifyRequest, type StoredAnswer } from '../../db/idempotency/idempotency-keys.ts';
import type { IdempotencyRow } from '../../db/idempotency/kept-answers.ts';
import { makeId } from '../../db/ids.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Caller, Reply, Route } from '../context.ts';
import {
  releaseIdempotencyKey,
  idempotencyInProgress,
  storedReply,
  type IdempotencyContext,
} from '../idempotent-effects.ts';
import { writeOrRetryInBackground } from '../background-retry.ts';
import { requireFreshKey } from './bearer-key.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const HEADER = 'Idempotency-Key';
/** Length from which a text is hashed before it is compared, in UTF-16 code units. */
const LONG_TEXT = 4_096;
const REPLAYED = { 'idempotent-replayed': 'true' };

/**
 * Reads the key. Null when the route is not idempotent or the request has no key. Throws 400 for a
 * malformed key.
 */
export function readIdempotencyKey(
  route: Route,
  header: string | undefined,
  {
    caller,
    params,
    query,
    body,
    file,
  }: Pick<RequestContext, 'params' | 'query' | 'body' | 'file'> & { caller: Caller },
): IdempotencyContext | null {
  if (!route.idempotent || caller.proof === 'none' || header === undefined) return null;
  if (!KEY.test(header)) {
    const message = `${HEADER} must have 1 to 255 visible ASCII characters.`;
    throw new GatewayError('invalid_request', { param: HEADER, message });
  }
  // Built from the route's pattern, so that another spelling of the path (case, trailing slash) has the
  // same scope.
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const scope = { userId: caller.user.id, method: route.method, path };
  const content = [query.toString(), sortFields(body), ...(file ? [file.sha256] : [])];
  const request = identifyRequest(scope, header, JSON.stringify(content));
  const isByClaim = route.idempotent === 'by-claim';
  return { request, rowId: makeId('idm'), isByClaim, resumedId: null, stage: 'free' };
}

/** Answers a repeat as the first request was answered; runs `handle` when there was none. */
export function handleIdempotently(ctx: RequestContext, handle: () => Promise<Reply>): Promise<Reply> {
  return ctx.idempotency ? handleWithKey(ctx, ctx.idempotency, handle) : handle();
}

async function handleWithKey(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const reply = await handleOrReplay(ctx, idempotency, handle);
  return {
    ...reply,
    ...(reply.stream && { stream: keepWhenStreamed(ctx, idempotency, reply, reply.stream) }),
  };
}

async function handleOrReplay(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const earlier = idempotency.isByClaim ? null : await find(ctx, idempotency);
  if (earlier) return answerRepeat(ctx, idempotency, earlier, handle);
  try {
    return await handleAndKeep(ctx, idempotency, handle);
  } catch (error) {
    // An earlier request has claimed the key, or one beside this, or the answer to our own COMMIT was lost.
    const found = idempotency.stage === 'free' ? await findAfter(error, ctx, idempotency) : null;
    if (!found) throw error;
    return answerRepeat(ctx, idempotency, found, handle);
  }
}

/**
 * Keeps a streamed answer before its end is sent, so that a repeat of who has seen the end gets the same; one
 * that broke off releases its key. The repeat of one that was too much to be kept is refused: it was charged.
 */
function keepWhenStreamed(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  { status, headers }: Reply,
  stream: NonNullable<Reply['stream']>,
): NonNullable<Reply['stream']> {
  return async (res) => {
    const streamed = await stream(res);
    if (streamed === null) await releaseIdempotencyKey(ctx);
    else if (streamed.written === null) await keep(ctx, idempotency, storedError(tooLongToRepeat()));
    else {
      const body = streamed.written + streamed.end;
      const answer = storedReply({ status, body, ...(headers && { headers }) });
      await keep(ctx, idempotency, answer, streamed.release);
    }
    return streamed;
  };
}

function tooLongToRepeat(): GatewayError {
  return new GatewayError('idempotency_key_reused', {
    message:
      'An earlier request with this key was answered and charged, and its stream was too long to be kept, ' +
      'by itself or beside others at the time. Use another key.',
  });
}

function find({ services }: RequestContext, { request }: IdempotencyContext): Promise<IdempotencyRow | null> {
  return services.keptAnswers.find(request);
}

/**
 * Finds the row after `error`. While that fails, `error` stands, unless it is a refusal of a request that was
 * not looked up before: the caller of a repeat would take it for the end of a request that was answered.
 */
async function findAfter(
  error: unknown,
  ctx: RequestContext,
  idempotency: IdempotencyContext,
): Promise<IdempotencyRow | null> {
  const isUnsure = idempotency.isByClaim && error instanceof GatewayError && error.status < 500;
  return find(ctx, idempotency).catch((failure: unknown) => {
    if (isUnsure) throw failure;
    return null;
  });
}

async function answerRepeat(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  row: IdempotencyRow,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  if (idempotency.isByClaim) await requireFreshKey(ctx);
  if (!row.isSameContent) throw new GatewayError('idempotency_key_reused', { param: HEADER });
  const isOwn = row.id === idempotency.rowId;
  if (row.answer) return replay(row.answer, isOwn ? {} : REPLAYED);
  if ((row.isLeased && !isOwn) || row.subjectId === null) throw idempotencyInProgress();
  // The process that began the effect died before it answered; the handler now answers from what was begun,
  // or begins anew if that was undone.
  // An error here would not be about the effect, so it is not stored.
  idempotency.rowId = row.id;
  idempotency.resumedId = row.subjectId;
  idempotency.stage = 'begun';
  const reply = await handle();
  if (!reply.stream) await keep(ctx, idempotency, storedReply(reply));
  const isAnew = idempotency.resumedId === null;
  return isOwn || isAnew ? reply : { ...reply, headers: { ...reply.headers, ...REPLAYED } };
}

function replay(answer: StoredAnswer, added: Readonly<Record<string, string>>): Reply {
  // A stored refusal of repeats is not what the first request was told.
  const isRefusal = answer.kind === 'error' && answer.code === 'idempotency_key_reused';
  const headers = isRefusal ? answer.headers : { ...answer.headers, ...added };
  if (answer.kind === 'reply') return { status: answer.status, body: answer.body, headers };
  const { code, message, param, extra } = answer;
  throw new GatewayError(code, { message, param, extra, headers });
}

/**
 * Runs `handle` and keeps its answer. An error below 500 that came after the effect is kept too, because it
 * is the answer; an error from 500 on is not.
 */
async function handleAndKeep(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  try {
    const reply = await handle();
    if (!reply.stream) await keep(ctx, idempotency, storedReply(reply));
    return reply;
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) await keep(ctx, idempotency, storedError(error));
    throw error;
  }
}

/**
 * Stores an answer for repeats. The caller gets it also while the database is away. `onEnd` is told when the
 * answer is stored or given up, which may be long after the first try.
 */
async function keep(
  { services, requestId }: RequestContext,
  idempotency: IdempotencyContext,
  answer: StoredAnswer,
  onEnd = (): void => undefined,
): Promise<void> {
  if (idempotency.stage !== 'begun') return onEnd();
  const { rowId } = idempotency;
  await writeOrRetryInBackground(
    () => services.keptAnswers.keep(rowId, answer),
    (err) =>
      services.log.warn({ err, requestId }, 'an answer could not be kept yet for repeats of its request'),
    onEnd,
  );
}

function storedError({ code, message, param, extra, headers }: GatewayError): StoredAnswer {
  return { kind: 'error', code, message, param, extra, headers };
}

/**
 * Sorts fields by name, so that another order is the same content. A long text is replaced by its hash,
 * which is faster. The recursion is bounded: `readJsonBody` has checked the depth.
 */
function sortFields(value: unknown): unknown {
  if (typeof value === 'string' && value.length > LONG_TEXT) return { sha256: hash('sha256', value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortFields);
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, member]) => [name, sortFields(member)]));
}
