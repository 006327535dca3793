// Undoes a reservation whose answer was lost: it may stand in the database although its call never begins.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatCallEnd, ChatCallKey } from '../../db/chat/calls.ts';
import { releaseUndoneKey } from '../../db/idempotency/idempotency-keys.ts';
import type { KeyCaller, RequestContext } from '../context.ts';

/**
 * Waits before the tries. A statement that the server still holds may commit after the first of them; after
 * the last one the time limit of every statement is over.
 */
const PAUSES_MS = [0, 5_000, 15_000];

/**
 * Settles the call for nothing and frees its idempotency key, so that a repeat need not wait until the lease
 * of the call is over. Never rejects: what cannot be undone here, the sweeper settles.
 */
export async function undoReservation(
  { services, idempotency, em }: RequestContext<KeyCaller>,
  call: ChatCallKey,
): Promise<void> {
  const rowId = idempotency?.rowId ?? null;
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs, undefined, { ref: false });
    if (services.stopping.aborted) return;
    try {
      await services.chat.calls.settle({ ...call, ...NOTHING_DONE });
      if (rowId !== null) await releaseUndoneKey(em.fork(), rowId, call.id);
    } catch (error) {
      services.log.warn({ err: error, callId: call.id }, 'a reservation could not be undone yet');
    }
  }
}

const NOTHING_DONE = {
  status: 'failed',
  charged: 0n,
  loss: 0n,
  promptTokens: null,
  completionTokens: null,
  billingBasis: 'none',
  latencyMs: 0,
  upstreamRequestId: null,
  tried: [],
  errorCode: 'service_unavailable',
  errorMessage: null,
  answer: null,
} as const satisfies Omit<ChatCallEnd, keyof ChatCallKey>;
