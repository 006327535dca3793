// The scheduled check of the ledger: what contradicts itself is an alarm, and stops the account's spending.
import { freezeAccounts } from '../db/ledger/freezing.ts';
import { findViolations } from '../db/ledger/invariants.ts';
import { recordViolations } from '../db/ledger/violations.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { forkEm } from '../db/database.ts';

export function createInvariantCheck({ database, log }: ActivityDependencies) {
  return {
    /** Tells of every violation as long as it is there; the message is fixed, so that an alarm can wait for it. */
    async checkInvariants(): Promise<{ violations: number; frozen: number }> {
      const violations = await findViolations(forkEm(database));
      for (const { rule, subject, userId } of violations)
        log.error({ rule, subject, userId }, 'ledger invariant violated');
      await recordViolations(forkEm(database), violations);
      const frozen = await freezeAccounts(forkEm(database), violations);
      for (const userId of frozen) log.error({ userId }, 'the account was frozen');
      return { violations: violations.length, frozen: frozen.length };
    },
  };
}
