// One slice of the check of the ledger: steps over some accounts and what they violate, on one snapshot.
import { IsolationLevel, sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { findAccountViolations, type Violation } from './rules.ts';
import { takeSteps, type Position, type Step } from './walk.ts';

/** Most accounts in a slice. */
export const ACCOUNTS_PER_SLICE = 200;
/** About how many transfers, calls and tasks, each, one slice reads: some tenths of a second. */
const ROWS_PER_SLICE = 5_000;
/** A slice of usual size takes a tenth of it. It ends before the driver's own limit (`openDatabase`). */
const SLICE_MS = 5_000;

export interface SliceOptions {
  rowsPerSlice?: number;
}

/**
 * Runs `work` on one snapshot, where every row is found by an index and read in its order, so that a step
 * ends at its limit whatever the statistics say. `readOnly` lets it run on a standby.
 */
export async function onOneSnapshot<Result>(
  em: Em,
  readOnly: boolean,
  work: (tx: Em) => Promise<Result>,
): Promise<Result> {
  return em.transactional(
    async (tx) => {
      await tx.execute(sql`
        select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
               set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
               set_config('jit', 'off', true),
               set_config('statement_timeout', ${String(SLICE_MS)}, true)`);
      return work(tx);
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly },
  );
}

/** Takes a step on each account and applies the rules to it. Call it in `onOneSnapshot`. */
export async function checkSlice(
  tx: Em,
  positions: readonly Position[],
  { rowsPerSlice = ROWS_PER_SLICE }: SliceOptions = {},
): Promise<{ steps: Step[]; violations: Violation[] }> {
  const rowsMax = Math.ceil(rowsPerSlice / Math.max(positions.length, 1));
  const steps = await takeSteps(tx, positions, rowsMax);
  return { steps, violations: await findAccountViolations(tx, steps, rowsMax) };
}
