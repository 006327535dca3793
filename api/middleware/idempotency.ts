// Around the handlers of idempotent routes: reads the Idempotency-Key, answers repeats, keeps answers that came later.
import { hash } from 'node:crypto';
import {
  findIdempotencyRow,
  storeAnswer,
  identifyRequest,
  type IdempotencyRow,
  type StoredAnswer,
} from '../../db/idempotency.ts';
import { makeId } from '../../db/ids.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Caller, Reply, Route } from '../context.ts';
import { freeKey, inProgress, storedReply, type IdempotencyContext } from '../idempotency.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const HEADER = 'Idempotency-Key';
/** In UTF-16 code units. */
const LONG_TEXT = 4_096;
const REPLAYED = { 'idempotent-replayed': 'true' };

/** Null where the route or the request has nothing to do with keys. Throws 400 for a key that is none. */
export function readOnce(
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
  // From the route, so that another spelling of the same path is the same path.
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const place = { userId: caller.user.id, method: route.method, path };
  const content = [query.toString(), sortFields(body), ...(file ? [file.sha256] : [])];
  const request = identifyRequest(place, header, JSON.stringify(content));
  return { request, rowId: makeId('idm'), resumedId: null, stage: 'free' };
}

/** Answers a repeat as the first request was answered; runs `handle` when there was none. */
export async function handleOnce(ctx: RequestContext, handle: () => Promise<Reply>): Promise<Reply> {
  const { idempotency } = ctx;
  if (!idempotency) return handle();
  const earlier = await find(ctx, idempotency);
  if (earlier) return answerRepeat(ctx, idempotency, earlier, handle);
  try {
    return await handleAndKeep(ctx, idempotency, handle);
  } catch (error) {
    // The other request may have come first while this one was looking, or the answer to our own COMMIT was lost.
    const found = idempotency.stage === 'free' ? await find(ctx, idempotency).catch(() => null) : null;
    if (!found) throw error;
    return answerRepeat(ctx, idempotency, found, handle);
  }
}

/** After a streamed answer: a whole one is kept as it was sent, and one that broke off frees its key. */
export async function keepStreamed(
  ctx: RequestContext,
  { status, headers }: Reply,
  text: string | null,
): Promise<void> {
  if (ctx.idempotency?.stage !== 'begun') return;
  if (text === null) await freeKey(ctx);
  else await keep(ctx, ctx.idempotency, storedReply({ status, body: text, ...(headers && { headers }) }));
}

function find(
  { em, services }: RequestContext,
  { request }: IdempotencyContext,
): Promise<IdempotencyRow | null> {
  return findIdempotencyRow(em, services.secrets, request);
}

async function answerRepeat(
  ctx: RequestContext,
  idempotency: IdempotencyContext,
  row: IdempotencyRow,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  if (!row.isSameContent) throw new GatewayError('idempotency_key_reused', { param: HEADER });
  if (row.answer) return replay(row.answer);
  const isOwn = row.id === idempotency.rowId;
  if ((row.isLeased && !isOwn) || row.subjectId === null) throw inProgress();
  // Whoever began it died before the answer, which is now made from what there is. An error would tell of something
  // else than the effect: it is no answer to keep.
  idempotency.rowId = row.id;
  idempotency.resumedId = row.subjectId;
  idempotency.stage = 'begun';
  const reply = await handle();
  if (!reply.stream) await keep(ctx, idempotency, storedReply(reply));
  return isOwn ? reply : { ...reply, headers: { ...reply.headers, ...REPLAYED } };
}

function replay(answer: StoredAnswer): Reply {
  const headers = { ...answer.headers, ...REPLAYED };
  if (answer.kind === 'reply') return { status: answer.status, body: answer.body, headers };
  const { code, message, param, extra } = answer;
  throw new GatewayError(code, { message, param, extra, headers });
}

/** An error below 500 that came after the effect is its answer, too. What is our fault is no answer yet. */
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

/** The effect stands and its caller gets the answer, whether it can be kept or not. */
async function keep(
  { em, services, requestId }: RequestContext,
  idempotency: IdempotencyContext,
  answer: StoredAnswer,
): Promise<void> {
  if (idempotency.stage !== 'begun') return;
  try {
    await storeAnswer(em, services.secrets, idempotency.rowId, answer);
  } catch (err) {
    services.log.warn({ err, requestId }, 'an answer could not be kept for repeats of its request');
  }
}

function storedError({ code, message, param, extra, headers }: GatewayError): StoredAnswer {
  return { kind: 'error', code, message, param, extra, headers };
}

/** The order of fields says nothing, and a long text is told by its hash, which is faster. How deep a body may be nested was looked at before. */
function sortFields(value: unknown): unknown {
  if (typeof value === 'string' && value.length > LONG_TEXT) return { sha256: hash('sha256', value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortFields);
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, member]) => [name, sortFields(member)]));
}
