// The check of all money from the first transfer on, in slices that only read: for operators and tests.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { findCheckpointViolations } from './checkpoints.ts';
import { findCodeViolations } from './code-rules.ts';
import type { Violation } from './rules.ts';
import { findStrangers } from './strangers.ts';
import { ACCOUNTS_PER_SLICE, checkSlice, onOneSnapshot, type SliceOptions } from './slices.ts';
import { findComparisonViolations, findUsageViolations, listComparedSpans } from './usage-sums.ts';
import { beginningOf, type Position } from './walk.ts';

export type { Violation } from './rules.ts';

const CODES_PER_SLICE = 1_000;
/** Accounts whose sums of usage one slice adds up: some ten thousand rows a year for each. */
const SUMMED_PER_SLICE = 20;
/** Whose sums are those of all users together. */
const ALL_USERS = '';

/** How far a full check is. */
export interface Progress {
  accounts: number;
  slices: number;
}

/**
 * Checks all accounts, redeem codes and rows of unknown users. Each slice has a snapshot of its own, in a
 * transaction that only reads: it is no passing state, safe under load, and runs on a standby. `onProgress`
 * is called after every slice.
 */
export async function findViolations(
  em: Em,
  options: SliceOptions & { onProgress?: (progress: Progress) => void } = {},
): Promise<Violation[]> {
  const found = new Map<string, Violation>();
  const progress = { accounts: 0, slices: 0 };
  const add = (violations: readonly Violation[]): void => {
    for (const violation of violations)
      found.set(JSON.stringify([violation.rule, violation.subject]), violation);
    progress.slices += 1;
    options.onProgress?.({ ...progress });
  };
  for (let after = ''; ;) {
    const ids = await listIdsAfter(em, 'account', after, ACCOUNTS_PER_SLICE);
    const last = ids.length < ACCOUNTS_PER_SLICE ? null : (ids.at(-1) ?? null);
    await checkFromBeginning(em, ids, options, add);
    add(await onOneSnapshot(em, true, (tx) => findCheckpointViolations(tx, ids)));
    for (let at = 0; at < ids.length; at += SUMMED_PER_SLICE) {
      const some = ids.slice(at, at + SUMMED_PER_SLICE);
      add(await onOneSnapshot(em, true, (tx) => findUsageViolations(tx, some)));
    }
    progress.accounts += ids.length;
    add(await onOneSnapshot(em, true, (tx) => findStrangers(tx, after, last)));
    if (last === null) break;
    after = last;
  }
  for (let after = ''; ;) {
    const last = (await listIdsAfter(em, 'redeem_code', after, CODES_PER_SLICE)).at(-1);
    if (last === undefined) break;
    add(await onOneSnapshot(em, true, (tx) => findCodeViolations(tx, after, last)));
    after = last;
  }
  add(await onOneSnapshot(em, true, (tx) => findUsageViolations(tx, [ALL_USERS])));
  for (const span of await listComparedSpans(em))
    add(await onOneSnapshot(em, true, (tx) => findComparisonViolations(tx, span)));
  return [...found.values()];
}

/** The next ids of accounts or redeem codes, in order. */
export async function listIdsAfter(
  em: Em,
  table: 'account' | 'redeem_code',
  after: string,
  limit: number,
): Promise<string[]> {
  const id = sql.ref(table === 'account' ? 'user_id' : 'id');
  const rows = await em.execute<{ id: string }[]>(sql`
    select ${id} as id from ${sql.ref(table)} where ${id} > ${after} order by ${id} limit ${limit}`);
  return rows.map((row) => row.id);
}

async function checkFromBeginning(
  em: Em,
  userIds: readonly string[],
  options: SliceOptions,
  add: (violations: readonly Violation[]) => void,
): Promise<void> {
  let rest: Position[] = userIds.map(beginningOf);
  while (rest.length > 0) {
    const { steps, violations } = await onOneSnapshot(em, true, (tx) => checkSlice(tx, rest, options));
    add(violations);
    rest = steps.filter(({ is_reached }) => !is_reached).map(({ to }) => to);
  }
}
