// The audit log (who changed what, from where; append-only), and what the check of the ledger found.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { JsonValue } from '../../domain/json.ts';

export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.text().primary(),
    action: p.text(),
    /** Null for the operator's command line. */
    actorId: p.text().nullable(),
    /**
     * The user whose security the entry concerns, and who may read it; null for entries of administration.
     */
    userId: p.text().nullable(),
    targetType: p.text(),
    targetId: p.text(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text().nullable(),
    detail: p.json<{ [name: string]: JsonValue }>().defaultRaw(`'{}'`),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type AuditEntry = InferEntity<typeof AuditEntryEntity>;

/** A rule of money that was found broken; it is open until a check finds it in order again. */
export const LedgerViolationEntity = defineEntity({
  name: 'LedgerViolation',
  tableName: 'ledger_violation',
  properties: {
    rule: p.text().primary(),
    subject: p.text().primary(),
    userId: p.text().nullable(),
    firstSeenAt: p.datetime().defaultRaw('now()'),
    lastSeenAt: p.datetime().defaultRaw('now()'),
    resolvedAt: p.datetime().nullable(),
  },
});
