// How far the check of the ledger has come on each account. Only the check writes it.
import { defineEntity, p } from '@mikro-orm/core';

export const LedgerCheckpointEntity = defineEntity({
  name: 'LedgerCheckpoint',
  tableName: 'ledger_checkpoint',
  properties: {
    userId: p.text().primary(),
    /** The last transfer whose amount is in the sums. */
    sequence: p.bigint('bigint').defaultRaw('0'),
    balance: p.bigint('bigint').defaultRaw('0'),
    granted: p.bigint('bigint').defaultRaw('0'),
    charged: p.bigint('bigint').defaultRaw('0'),
    /** By key: what it was charged, altogether and on its last day. */
    keys: p.json<{ [keyId: string]: { used: string; day: string; dayUsed: string } }>().defaultRaw(`'{}'`),
    callId: p.text().defaultRaw(`''`),
    taskXid: p.string().columnType('xid8').defaultRaw(`'0'`),
    taskId: p.text().defaultRaw(`''`),
    /** When the check last began with the account's first transfer. */
    beganAt: p.datetime().defaultRaw('now()'),
    /** When all rules held; of a new account the time it was made. */
    verifiedAt: p.datetime(),
  },
});
