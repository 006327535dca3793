// The scheduled check of the ledger: a violated invariant is an alarm, and freezes the account it concerns.
import { checkAccounts, listChanged, listOldest, listViolated } from '../db/ledger/checkpoints.ts';
import { listIdsAfter, type Violation } from '../db/ledger/invariants.ts';
import { CODE_RULES, findCodeViolations } from '../db/ledger/code-rules.ts';
import { findStrangers, STRANGER_RULE } from '../db/ledger/strangers.ts';
import { ACCOUNTS_PER_SLICE, onOneSnapshot } from '../db/ledger/slices.ts';
import { recordViolations } from '../db/ledger/violations.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { forkEm } from '../db/database.ts';

/** A round ends after this; what is left is due in the next one. */
const ROUND_MS = 20_000;
/** Of it, the most for accounts that have changed: the rest belongs to those checked the longest ago. */
const CHANGED_MS = 10_000;
/**
 * Accounts that one look at changes passes, and most of those with violations or checked long ago in a
 * round.
 */
const ACCOUNTS_MAX = 5_000;
const CODES_MAX = 1_000;

export interface CheckRound {
  violations: number;
  frozen: number;
  /** Accounts whose rules all hold. */
  verified: number;
}

type CheckDependencies = Pick<ActivityDependencies, 'database' | 'log'>;

export function createInvariantCheck({ database, log }: CheckDependencies) {
  // Where the next round goes on; a process that begins anew begins at the first account.
  let accountsAfter = '';
  let codesAfter = '';

  return { checkInvariants };

  /**
   * Checks the accounts that changed, those with violations, and those checked the longest ago. Logs every
   * violation each time it is found; the message is fixed, so that an alarm can match it. A slice that fails
   * does not keep the others from being checked. Throws its error afterwards.
   */
  async function checkInvariants(): Promise<CheckRound> {
    const round = createRound({ database, log });
    const changedUntil = Date.now() + CHANGED_MS;
    do {
      const after = accountsAfter;
      const { userIds, last } = await listChanged(forkEm(database), after, ACCOUNTS_MAX);
      accountsAfter = last ?? '';
      await round.checkAll(userIds, changedUntil);
      await round.guard(async () => round.report(await checkStrangers(after, last)));
    } while (accountsAfter !== '' && Date.now() < changedUntil);
    await round.guard(async () => round.report(await checkCodes()));
    await round.checkAll(await listViolated(forkEm(database), ACCOUNTS_MAX), round.until);
    await round.checkAll(await listOldest(forkEm(database), ACCOUNTS_MAX), round.until);
    return round.finish();
  }

  async function checkStrangers(after: string, upTo: string | null): Promise<Violation[]> {
    return onOneSnapshot(forkEm(database), false, async (tx) => {
      const found = await findStrangers(tx, after, upTo);
      await recordViolations(tx, found, { rules: [STRANGER_RULE], after, upTo });
      return found;
    });
  }

  async function checkCodes(): Promise<Violation[]> {
    const after = codesAfter;
    const ids = await listIdsAfter(forkEm(database), 'redeem_code', after, CODES_MAX);
    const last = ids.at(-1);
    codesAfter = ids.length < CODES_MAX ? '' : (last ?? '');
    if (last === undefined) return [];
    return onOneSnapshot(forkEm(database), false, async (tx) => {
      const found = await findCodeViolations(tx, after, last);
      await recordViolations(tx, found, { rules: CODE_RULES, after, upTo: last });
      return found;
    });
  }
}

/** What one round has checked and found. */
function createRound({ database, log }: CheckDependencies) {
  const counts: CheckRound = { violations: 0, frozen: 0, verified: 0 };
  const checked = new Set<string>();
  const until = Date.now() + ROUND_MS;
  let failure: { error: unknown } | null = null;
  const round = {
    until,
    /** Counts and logs violations. */
    report(violations: readonly Violation[]): void {
      for (const { rule, subject, userId } of violations)
        log.error({ rule, subject, userId }, 'ledger invariant violated');
      counts.violations += violations.length;
    },
    async guard(step: () => Promise<void>): Promise<void> {
      try {
        await step();
      } catch (error) {
        log.error({ err: error }, 'a slice of the ledger check failed');
        failure ??= { error };
      }
    },
    /** Checks the accounts that this round has not checked, in slices, up to the time `end`. */
    async checkAll(userIds: readonly string[], end: number): Promise<void> {
      const due = userIds.filter((id) => !checked.has(id));
      while (due.length > 0 && Date.now() < end) {
        const slice = due.splice(0, ACCOUNTS_PER_SLICE);
        for (const id of slice) checked.add(id);
        await round.guard(() => checkSliceUntil(slice, end));
      }
    },
    finish(): CheckRound {
      if (failure) throw failure.error;
      return counts;
    },
  };
  return round;

  async function checkSliceUntil(slice: readonly string[], end: number): Promise<void> {
    for (let rest = slice; rest.length > 0 && Date.now() < end;) {
      const { violations, frozen, verified, unfinished } = await checkAccounts(forkEm(database), rest);
      round.report(violations);
      for (const userId of frozen) log.error({ userId }, 'the account was frozen');
      counts.frozen += frozen.length;
      counts.verified += verified;
      rest = unfinished;
    }
  }
}
