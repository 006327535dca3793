// Chat calls that are over, as their owner lists them. Their money: chat-ledger.ts.
import { ChatCallEntity, type ChatCall } from '../entities/chat-calls.ts';
import { firstIdAt } from '../ids.ts';
import type { Em } from '../database.ts';
import type { BillingBasis, ChatCallStatus } from '../../domain/chat-calls.ts';

export interface ChatCallPage {
  limit: number;
  beforeId: string | null;
  model: string | undefined;
  keyId: string | undefined;
  status: ChatCallStatus | undefined;
  errorCode: string | undefined;
  /** From this time on, and before the other. */
  from: Date | undefined;
  to: Date | undefined;
}

/** A call that is over, with what the schema guarantees of its row. */
export interface EndedChatCall extends ChatCall {
  status: ChatCallStatus;
  billingBasis: BillingBasis;
  latencyMs: number;
}

/** Newest first, older than `beforeId` if given; filtered by owner before anything else. */
export async function listOwnChatCalls(em: Em, userId: string, page: ChatCallPage): Promise<EndedChatCall[]> {
  const { limit, beforeId, model, keyId, status, errorCode, from, to } = page;
  const where = {
    userId,
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { keyId }),
    ...(errorCode !== undefined && { errorCode }),
    $and: [
      ...(beforeId === null ? [] : [{ id: { $lt: beforeId } }]),
      ...(from ? [{ id: { $gte: firstIdAt('call', from) } }] : []),
      ...(to ? [{ id: { $lt: firstIdAt('call', to) } }] : []),
    ],
    ...(status !== undefined && { status }),
    settledAt: { $ne: null }, // all but open ones, as the indexes say it
  };
  const found = await em.find(ChatCallEntity, where, { orderBy: { id: 'desc' }, limit });
  return found.filter(hasEnded);
}

function hasEnded(call: ChatCall): call is EndedChatCall {
  return call.status !== 'open';
}
