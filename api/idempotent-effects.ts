// Makes the effect of a handler happen once per Idempotency-Key. Repeats never reach a handler.
//
// A route says `idempotent: true` in its table row; its handler then does one of these two:
// - It runs its effect inside `answerOnce`, when the answer is known as soon as the effect is: a task, a
//   grant, a redemption.
// - It writes what `claimOf` says in the statement of its effect, and then calls `begunWith`, when the
//   answer comes later: a chat call waits for a vendor. The handler's final answer is kept, unless it has
//   written what `sealAnswer` says together with the end of the effect, and called `answeredWith`. If the
//   process dies before either, the next request with the key reaches the handler again, with the id of the
//   begun effect in `ctx.idempotency.resumedId`: the handler must refuse it, or, if that effect was undone,
//   begin anew.
// Without the header, `ctx.idempotency` is null and all of these do nothing of their own. A repeat
// with other content is refused; the content is the JSON body and the query, or of an uploaded file its
// bytes, whatever its name.
import {
  claimKey,
  releaseKey,
  storeAnswer,
  type IdentifiedRequest,
  type KeyClaim,
  type SealedAnswer,
  type StoredAnswer,
} from '../db/idempotency/idempotency-keys.ts';
import type { Secrets } from '../db/secrets.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Em } from '../db/database.ts';
import { writeOrRetryInBackground } from './background-retry.ts';

/** State of one request with an Idempotency-Key. */
export interface IdempotencyContext {
  readonly request: IdentifiedRequest;
  /** The row that this request writes, or whose answer it completes. */
  rowId: string;
  /** Whether the statement of the effect tells a repeat: see `Route`. */
  readonly isByClaim: boolean;
  /** Id of the effect that an earlier request with this key began and never answered; null without one. */
  resumedId: string | null;
  /** Whether this request has claimed the key: with its answer to come (`begun`), or with it (`answered`). */
  stage: 'free' | 'begun' | 'answered';
}

/** The parts of a request context that are used here. */
export interface IdempotentRequest {
  services: { secrets: Secrets };
  em: Em;
  idempotency: IdempotencyContext | null;
}

/** The answer of a handler: a part of `Reply` in `api/context.ts`. */
interface Answer {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Lease of a row whose answer comes in the same transaction: longer than that may take. */
const LEASE_SECONDS = 10;

/**
 * Runs `act` in a transaction and stores its answer in the same one. `act` must use the EntityManager it is
 * given. When `act` throws, nothing happened and the key is free again. `kept` converts the answer for
 * repeats.
 */
export async function answerOnce<Reply extends Answer>(
  ctx: IdempotentRequest,
  act: (em: Em) => Promise<Reply>,
  kept: (reply: Reply) => Answer = (reply) => reply,
): Promise<Reply> {
  const { idempotency, services } = ctx;
  if (!idempotency) return act(ctx.em);
  const reply = await ctx.em.transactional(async (tx) => {
    await claim(tx, idempotency);
    const answer = await act(tx);
    await storeAnswer(tx, services.secrets, idempotency.rowId, storedReply(kept(answer)));
    return answer;
  });
  idempotency.stage = 'answered';
  return reply;
}

/**
 * The claim of a handler whose answer comes later: to be written in the statement of its effect. Null without
 * the header.
 */
export function claimOf({ idempotency }: Pick<IdempotentRequest, 'idempotency'>): KeyClaim | null {
  if (!idempotency) return null;
  const { request, rowId, resumedId } = idempotency;
  return { request, rowId, undoneId: resumedId };
}

/**
 * To be called when the claim was written with its effect: from then on the handler's answer is kept, an
 * error below 500 too.
 */
export function begunWith({ idempotency }: Pick<IdempotentRequest, 'idempotency'>): void {
  if (!idempotency) return;
  idempotency.stage = 'begun';
  idempotency.resumedId = null;
}

/**
 * The handler's answer, as it is written with the end of an effect that was begun; null without the header.
 */
export function sealAnswer({ services, idempotency }: IdempotentRequest, reply: Answer): SealedAnswer | null {
  if (idempotency?.stage !== 'begun') return null;
  const { rowId } = idempotency;
  return { rowId, ...services.secrets.seal('answer', rowId, JSON.stringify(storedReply(reply))) };
}

/** To be called when the sealed answer was written: it is not kept again. */
export function answeredWith({ idempotency }: Pick<IdempotentRequest, 'idempotency'>): void {
  if (idempotency?.stage === 'begun') idempotency.stage = 'answered';
}

/**
 * Frees the key of an effect that was begun and undone. While the database is away the answer does not wait
 * for that: it is retried in the background.
 */
export async function releaseIdempotencyKey({ em, idempotency }: IdempotentRequest): Promise<void> {
  if (idempotency?.stage !== 'begun') return;
  idempotency.stage = 'free';
  const { rowId } = idempotency;
  await writeOrRetryInBackground(() => releaseKey(em.fork(), rowId), ignore, ignore);
}

/**
 * The error 409 while the first request is still running: unlike other conflicts, it tells clients to
 * repeat.
 */
export function idempotencyInProgress(): GatewayError {
  const headers = { 'retry-after': '1', 'x-should-retry': 'true' };
  return new GatewayError('idempotency_in_progress', { headers });
}

export function storedReply({ status, body, headers = {} }: Answer): StoredAnswer {
  return { kind: 'reply', status, body, headers };
}

async function claim(tx: Em, { request, rowId }: IdempotencyContext): Promise<void> {
  const isFirst = await claimKey(tx, request, { rowId, leaseSeconds: LEASE_SECONDS });
  if (!isFirst) throw idempotencyInProgress();
}

function ignore(): void {}
