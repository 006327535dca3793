// Credits for tests: grants and refunds with the audit entry that has to stand behind each, once per key.
import { sql } from '@mikro-orm/postgresql';
import { COMMAND_LINE, writeAuditEntry } from '../../db/audit-log.ts';
import type { Em } from '../../db/database.ts';
import * as ledger from '../../db/ledger/ledger.ts';
import { toCredits } from '../../domain/credits.ts';

/** As `ledger.grant`. */
export async function grantOnce(
  em: Em,
  input: Parameters<typeof ledger.grant>[1],
): Promise<ledger.LedgerMove> {
  return em.transactional(async (tx) => {
    const move = await ledger.grant(tx, input);
    const [known] = await tx.execute(sql`
      select 1 from audit_entry where detail ->> 'ledgerEntryId' = ${move.transferId}`);
    if (!known)
      await writeAuditEntry(tx, COMMAND_LINE, {
        action: 'GRANT_CREDITS',
        targetType: 'user',
        targetId: input.userId,
        detail: { credits: toCredits(input.amount), ledgerEntryId: move.transferId },
      });
    return move;
  });
}

/** As `ledger.refund`. */
export async function refundOnce(
  em: Em,
  input: Parameters<typeof ledger.refund>[1],
): Promise<ledger.Refund | null> {
  return em.transactional(async (tx) => {
    const refund = await ledger.refund(tx, input);
    if (refund?.isFirst)
      await writeAuditEntry(tx, COMMAND_LINE, {
        action: 'REFUND_TASK',
        targetType: 'task',
        targetId: input.taskId,
        detail: { credits: toCredits(input.amount), ledgerEntryId: refund.transferId },
      });
    return refund;
  });
}
