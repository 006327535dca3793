// One record for each chat call that reached an upstream, written when it is settled.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { BillingBasis, ChatCallStatus, TriedUpstream } from '../../domain/chat-calls.ts';

export const ChatCallEntity = defineEntity({
  name: 'ChatCall',
  tableName: 'chat_call',
  properties: {
    id: p.text().primary(),
    reservationId: p.text().unique(),
    requestId: p.text(),
    upstreamRequestId: p.text().nullable(),
    userId: p.text(),
    keyId: p.text(),
    model: p.text(),
    stream: p.boolean(),
    status: p.text().$type<ChatCallStatus>(),
    promptTokens: p.integer().nullable(),
    completionTokens: p.integer().nullable(),
    creditsReserved: p.bigint('bigint'),
    creditsCharged: p.bigint('bigint'),
    billingBasis: p.text().$type<BillingBasis>(),
    latencyMs: p.integer(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    /** The upstreams that were called, in order. */
    tried: p.json<TriedUpstream[]>(),
    createdAt: p.datetime(),
  },
});
export type ChatCall = InferEntity<typeof ChatCallEntity>;
