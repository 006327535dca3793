// What was removed by age. Only db/retention/ writes it.
import { defineEntity, p } from '@mikro-orm/core';

export const RetentionEntity = defineEntity({
  name: 'Retention',
  tableName: 'retention',
  properties: {
    subject: p.text().primary(),
    /** How many were removed, ever. */
    removed: p.bigint('bigint').defaultRaw('0'),
    /** What is older may be gone; nothing later ever is. */
    removedBefore: p.datetime(),
    /** The smallest id of that moment. */
    beforeId: p.text(),
    /** When all that was due was gone the last time. */
    finishedAt: p.datetime().nullable(),
  },
});

/** What is younger is not removed. The owner of the tables writes it, no process. */
export const RetentionFloorEntity = defineEntity({
  name: 'RetentionFloor',
  tableName: 'retention_floor',
  properties: { subject: p.text().primary(), kept: p.type('interval') },
});

/** Sums of removed calls by account, for the check of the ledger. */
export const RemovedCallEntity = defineEntity({
  name: 'RemovedCall',
  tableName: 'removed_call',
  properties: {
    userId: p.text().primary(),
    calls: p.bigint('bigint'),
    loss: p.bigint('bigint'),
  },
});
