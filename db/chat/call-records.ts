// Records of chat calls, as their owner lists them. Their money: chat-ledger.ts.
import { ChatCallEntity, type ChatCall } from '../entities/chat-calls.ts';
import type { Em } from '../database.ts';
import type { ChatCallStatus } from '../../domain/chat-calls.ts';

export interface ChatCallPage {
  limit: number;
  beforeId: string | null;
  model: string | undefined;
  keyId: string | undefined;
  status: ChatCallStatus | undefined;
}

/** Newest first, older than `beforeId` if given; filtered by owner before anything else. */
export async function listOwnChatCalls(em: Em, userId: string, page: ChatCallPage): Promise<ChatCall[]> {
  const { limit, beforeId, model, keyId, status } = page;
  const where = {
    userId,
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { keyId }),
    ...(status !== undefined && { status }),
    ...(beforeId !== null && { id: { $lt: beforeId } }),
  };
  return em.find(ChatCallEntity, where, { orderBy: { id: 'desc' }, limit });
}
