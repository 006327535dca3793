// Accounts, reservations and the append-only ledger. Only db/ledger/ and db/chat/chat-ledger.ts write them.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    userId: p.text().primary(),
    balance: p.bigint('bigint'),
    /** Set aside for attempts and chat calls under way. */
    reserved: p.bigint('bigint'),
    /** Estimates of queued tasks that are not reserved yet. */
    earmarked: p.bigint('bigint'),
    /** Tasks of the user that are queued. */
    queued: p.integer(),
    /** Tasks of the user that are in progress: the user's concurrency slots in use. */
    running: p.integer(),
    totalGranted: p.bigint('bigint'),
    totalCharged: p.bigint('bigint'),
    sequence: p.bigint('bigint'),
    frozenAt: p.datetime().nullable(),
    updatedAt: p.datetime(),
  },
});
export type Account = InferEntity<typeof AccountEntity>;

export const ReservationEntity = defineEntity({
  name: 'Reservation',
  tableName: 'reservation',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    keyId: p.text().nullable(),
    /** The task whose attempt reserved; null for a chat call. */
    taskId: p.text().nullable(),
    attempt: p.integer().nullable(),
    amount: p.bigint('bigint'),
    state: p.text().$type<'open' | 'charged' | 'released'>(),
    charged: p.bigint('bigint').nullable(),
    /** What the work cost beyond the charge; the operator bears it. */
    loss: p.bigint('bigint'),
    refunded: p.bigint('bigint'),
    /** The UTC day of the reservation: credits that return, return to that day's budget. */
    day: p.date(),
    /** This and the next two: of a chat call only. */
    requestId: p.text().nullable(),
    model: p.text().nullable(),
    stream: p.boolean().nullable(),
    /** Renewed by the process that makes the chat call; once it has passed, that process is dead. */
    leaseUntil: p.datetime().nullable(),
    /** What a chat call has delivered so far: the least to be charged. */
    knownCharge: p.bigint('bigint'),
    knownPromptTokens: p.integer().nullable(),
    knownCompletionTokens: p.integer().nullable(),
    createdAt: p.datetime(),
    settledAt: p.datetime().nullable(),
  },
});
export type Reservation = InferEntity<typeof ReservationEntity>;

export type LedgerKind = 'grant' | 'redeem' | 'charge' | 'refund' | 'adjustment';

export const LedgerTransactionEntity = defineEntity({
  name: 'LedgerTransaction',
  tableName: 'ledger_transaction',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<LedgerKind>(),
    idempotencyKey: p.text().unique(),
    reservationId: p.text().nullable(),
    taskId: p.text().nullable(),
    requestId: p.text().nullable(),
    keyId: p.text().nullable(),
    model: p.text().nullable(),
    description: p.text(),
    createdAt: p.datetime(),
  },
});

export const LedgerEntryEntity = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entry',
  properties: {
    id: p.text().primary(),
    transactionId: p.text(),
    /** A user's id, or `operator:…`. */
    accountId: p.text(),
    amount: p.bigint('bigint'),
    accountSequence: p.bigint('bigint').nullable(),
    balanceAfter: p.bigint('bigint').nullable(),
  },
});
