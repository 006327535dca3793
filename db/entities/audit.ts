// The audit log: who changed what, from where. Append-only.
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
