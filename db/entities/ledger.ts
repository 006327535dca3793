// Accounts, the spending of keys, reservations of tasks, and the append-only ledger. SQL functions write
// them.
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
    /** What tasks and calls cost beyond their charges; the operator bears it. */
    totalLoss: p.bigint('bigint'),
    /** The number of the last transfer. */
    sequence: p.bigint('bigint'),
    /** The user's, mirrored by a trigger. */
    disabledAt: p.datetime().nullable(),
    frozenAt: p.datetime().nullable(),
    updatedAt: p.datetime(),
  },
});
export type Account = InferEntity<typeof AccountEntity>;

/** What a key may spend and has spent, in micro-credits. */
export const KeySpendingEntity = defineEntity({
  name: 'KeySpending',
  tableName: 'key_spending',
  properties: {
    keyId: p.text().primary(),
    quota: p.bigint('bigint').nullable(),
    dailyBudget: p.bigint('bigint').nullable(),
    used: p.bigint('bigint'),
    reserved: p.bigint('bigint'),
    earmarked: p.bigint('bigint'),
    /** The UTC day of `dayUsed` and `dayReserved`, as YYYY-MM-DD. */
    day: p.date(),
    dayUsed: p.bigint('bigint'),
    dayReserved: p.bigint('bigint'),
  },
});
export type KeySpending = InferEntity<typeof KeySpendingEntity>;

/** The reservation of a task's attempt. */
export const TaskAttemptEntity = defineEntity({
  name: 'TaskAttempt',
  tableName: 'task_attempt',
  properties: {
    taskId: p.text().primary(),
    attempt: p.integer().primary(),
    userId: p.text(),
    keyId: p.text().nullable(),
    amount: p.bigint('bigint'),
    state: p.text().$type<'open' | 'charged' | 'released'>(),
    charged: p.bigint('bigint').nullable(),
    /** What the work cost beyond the charge; the operator bears it. */
    loss: p.bigint('bigint'),
    refunded: p.bigint('bigint'),
    /** The UTC day of the reservation: credits that return, return to that day's budget. */
    day: p.date(),
    createdAt: p.datetime(),
    settledAt: p.datetime().nullable(),
  },
});

export type TransferKind = 'grant' | 'redeem' | 'charge' | 'refund' | 'adjustment';

/** One move between a user's account and one of the operator's; `amount` is the user's side of it. */
export const LedgerTransferEntity = defineEntity({
  name: 'LedgerTransfer',
  tableName: 'ledger_transfer',
  properties: {
    /** The user's id. */
    accountId: p.text().primary(),
    sequence: p.bigint('bigint').primary(),
    id: p.text(),
    operatorAccount: p.text().$type<'operator:grants' | 'operator:revenue'>(),
    kind: p.text().$type<TransferKind>(),
    amount: p.bigint('bigint'),
    balanceAfter: p.bigint('bigint'),
    idempotencyKey: p.text().nullable(),
    taskId: p.text().nullable(),
    attempt: p.integer().nullable(),
    callId: p.text().nullable(),
    keyId: p.text().nullable(),
    model: p.text().nullable(),
    requestId: p.text().nullable(),
    description: p.text(),
    createdAt: p.datetime(),
  },
});
export type LedgerTransfer = InferEntity<typeof LedgerTransferEntity>;

/** A transfer that added credits; the transaction that writes it leaves what stands behind it. */
export const CreditedTransferEntity = defineEntity({
  name: 'CreditedTransfer',
  tableName: 'credited_transfer',
  properties: {
    transferId: p.text().primary(),
    accountId: p.text(),
    sequence: p.bigint('bigint'),
  },
});
