// Chat calls: one row each, open from its reservation until it is settled.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { BillingBasis, ChatCallStatus, TriedUpstream } from '../../domain/chat-calls.ts';

export const ChatCallEntity = defineEntity({
  name: 'ChatCall',
  tableName: 'chat_call',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    keyId: p.text(),
    requestId: p.text(),
    model: p.text(),
    stream: p.boolean(),
    status: p.text().$type<'open' | ChatCallStatus>(),
    creditsReserved: p.bigint('bigint'),
    creditsCharged: p.bigint('bigint'),
    /** What the call cost beyond the charge; the operator bears it. */
    loss: p.bigint('bigint'),
    /** The UTC day of the reservation: credits that return, return to that day's budget. */
    day: p.date(),
    /** Renewed by the process that makes the call; once it has passed, that process is dead. */
    leaseUntil: p.datetime(),
    /** What an open call has delivered so far, with its tokens: the least to be charged. */
    knownCharge: p.bigint('bigint'),
    promptTokens: p.integer().nullable(),
    completionTokens: p.integer().nullable(),
    /** The sweeper settled it, and its own end may still come. */
    isAbandoned: p.boolean(),
    /** From here on: null while it is open. */
    billingBasis: p.text().$type<BillingBasis>().nullable(),
    latencyMs: p.integer().nullable(),
    upstreamRequestId: p.text().nullable(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    /** The upstreams that were called, in order. */
    tried: p.json<TriedUpstream[]>().nullable(),
    createdAt: p.datetime(),
    settledAt: p.datetime().nullable(),
  },
});
export type ChatCall = InferEntity<typeof ChatCallEntity>;
