// Chat calls that are over, as their owner lists them. Their money: chat-ledger.ts.
import { sql } from '@mikro-orm/postgresql';
import { ChatCallEntity, type ChatCall } from '../entities/chat-calls.ts';
import { readRow } from '../read-row.ts';
import { equals, joinWithAnd, isOnPage, type PageFilters } from '../filters.ts';
import type { Em } from '../database.ts';
import type { BillingBasis, ChatCallStatus } from '../../domain/chat-calls.ts';

export interface ChatCallPage extends PageFilters {
  model: string | undefined;
  keyId: string | undefined;
  status: ChatCallStatus | undefined;
  errorCode: string | undefined;
}

/** A call that is over, with what the schema guarantees of its row. */
export interface EndedChatCall extends ListedColumns {
  status: ChatCallStatus;
  billingBasis: BillingBasis;
  latencyMs: number;
}

type ListedColumns = Pick<
  ChatCall,
  | 'id'
  | 'keyId'
  | 'requestId'
  | 'model'
  | 'stream'
  | 'status'
  | 'creditsReserved'
  | 'creditsCharged'
  | 'promptTokens'
  | 'completionTokens'
  | 'billingBasis'
  | 'latencyMs'
  | 'upstreamRequestId'
  | 'errorCode'
  | 'errorMessage'
  | 'createdAt'
>;

/** Newest first, older than `beforeId` if given; filtered by owner before anything else. */
export async function listOwnChatCalls(em: Em, userId: string, page: ChatCallPage): Promise<EndedChatCall[]> {
  const condition = joinWithAnd([
    sql`c.user_id = ${userId}`,
    isOnPage({ id: sql`c.id`, createdAt: sql`c.created_at` }, 'call', page),
    equals(sql`c.model`, page.model),
    equals(sql`c.key_id`, page.keyId),
    equals(sql`c.status`, page.status),
    equals(sql`c.error_code`, page.errorCode),
    sql`c.settled_at is not null`, // all but open ones, as the indexes say it
  ]);
  const rows = await em.execute<Record<string, unknown>[]>(sql`
    select c.id, c.key_id, c.request_id, c.model, c.stream, c.status, c.credits_reserved, c.credits_charged,
           c.prompt_tokens, c.completion_tokens, c.billing_basis, c.latency_ms, c.upstream_request_id, c.error_code,
           c.error_message, c.created_at
    from chat_call c where ${condition} order by c.id desc limit ${page.limit}`);
  return rows.map((row): ListedColumns => readRow(em, ChatCallEntity, row)).filter(hasEnded);
}

function hasEnded(call: ListedColumns): call is EndedChatCall {
  return call.status !== 'open';
}
