// The scheduled check of the ledger: a violated invariant is an alarm, and freezes the account it concerns.
import { freezeAccounts } from '../db/ledger/freezing.ts';
import { findViolations } from '../db/ledger/invariants.ts';
import { recordViolations } from '../db/ledger/violations.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { forkEm } from '../db/database.ts';

export function createInvariantCheck({ database, log }: ActivityDependencies) {
  return {
    /** Logs every violation each time it is found; the message is fixed, so that an alarm can match it. */
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
