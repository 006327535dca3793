// The incremental check of the ledger: which accounts are due, and a slice that goes on from their
// checkpoints.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { freezeAccounts } from './freezing.ts';
import type { Violation } from './rules.ts';
import { checkSlice, onOneSnapshot, type SliceOptions } from './slices.ts';
import { recordViolations } from './violations.ts';
import { beginningOf, type Position, type Step } from './walk.ts';

/** After this, an account is walked again from its first transfer: old rows may have been edited. */
const HISTORY_DAYS = 7;
/** A transaction may commit this long after the time that it writes; longer ones are cut off. */
const COMMIT_SECONDS = 15;
/** With more transfers than these behind a checkpoint, what they granted is not added up to judge it. */
const UNSUMMED_MAX = 1_000;
/** How far the clocks of a primary and of a standby may be apart. */
const CLOCKS_SECONDS = 3_600;
const CHECKPOINT_RULE = 'a checkpoint has the sums of its transfers and is not beyond them';

export interface CheckedSlice {
  violations: Violation[];
  /** Users whose accounts were frozen by this slice. */
  frozen: string[];
  /** Accounts whose rules all hold. */
  verified: number;
  /** Accounts that have more rows than one step takes: check them again at once. */
  unfinished: string[];
}

/**
 * Checks what happened on these accounts since their checkpoints. In one transaction with it the checkpoints
 * move on, and violations are recorded or resolved. Accounts with violations keep the checkpoint that they
 * have, and are frozen right after: a crash in between leaves that to the next check, which finds the same.
 */
export async function checkAccounts(
  em: Em,
  userIds: readonly string[],
  options: SliceOptions = {},
): Promise<CheckedSlice> {
  const slice = await onOneSnapshot(em, false, async (tx) => {
    const { steps, violations } = await checkSlice(tx, await readPositions(tx, userIds), options);
    const broken = new Set(violations.map(({ userId }) => userId));
    const sound = steps.filter((step) => !broken.has(step.user_id));
    await moveCheckpoints(tx, sound);
    const reached = steps.filter((step) => step.is_reached).map((step) => step.user_id);
    await recordViolations(tx, violations, { userIds: reached });
    return {
      violations,
      verified: sound.filter((step) => step.is_reached).length,
      unfinished: sound.filter((step) => !step.is_reached).map((step) => step.user_id),
    };
  });
  // Not on the slice's snapshot: an account that moves credits at this moment could not be frozen on it.
  return { ...slice, frozen: await freezeAccounts(em.fork(), slice.violations) };
}

/**
 * Notices accounts that have no checkpoint yet, and lists those after `after` that have changed since theirs.
 * `last` is where to go on, null at the end. A new account was in order when it was made.
 */
export async function listChanged(
  em: Em,
  after: string,
  limit: number,
): Promise<{ userIds: string[]; last: string | null }> {
  const rows = await em.execute<{ id: string; changed: boolean }[]>(sql`
    with chunk as materialized (
      select user_id, sequence, updated_at from account where user_id > ${after} order by user_id limit ${limit}
    ), noticed as (
      insert into ledger_checkpoint (user_id, verified_at)
      select a.user_id, u.created_at from chunk a join app_user u on u.id = a.user_id
      where not exists (select from ledger_checkpoint c where c.user_id = a.user_id)
      on conflict do nothing
    )
    select a.user_id as id,
      c.user_id is null or a.sequence <> c.sequence
        or a.updated_at > c.verified_at - make_interval(secs => ${COMMIT_SECONDS}) as changed
    from chunk a left join ledger_checkpoint c using (user_id) order by a.user_id`);
  const userIds = rows.filter(({ changed }) => changed).map(({ id }) => id);
  return { userIds, last: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
}

/** Accounts with open violations, those seen the longest ago first: they are looked at in every round. */
export async function listViolated(em: Em, limit: number): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(sql`
    select user_id as id from ledger_violation where resolved_at is null and user_id is not null
    group by user_id order by min(last_seen_at) limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** The accounts that were verified the longest ago, without those that have open violations. */
export async function listOldest(em: Em, limit: number): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(sql`
    select c.user_id as id from ledger_checkpoint c
    where not exists (select from ledger_violation v where v.user_id = c.user_id and v.resolved_at is null)
    order by c.verified_at limit ${limit}`);
  return rows.map(({ id }) => id);
}

/**
 * Finds checkpoints of these accounts that no check has written so: beyond what happened, or with other sums
 * than the transfers up to them have. Where more than some transfers came after one, the sum of what was
 * granted is left to the next step from it. For the check by hand, since a step trusts its checkpoint.
 */
export async function findCheckpointViolations(tx: Em, userIds: readonly string[]): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    select ${CHECKPOINT_RULE} as rule, c.user_id as subject, c.user_id as "userId"
    from jsonb_array_elements_text(${JSON.stringify(userIds)}::jsonb) i (id)
    join ledger_checkpoint c on c.user_id = i.id join account a on a.user_id = i.id
    left join ledger_transfer t on t.account_id = c.user_id and t.sequence = c.sequence
    where c.sequence > a.sequence or c.balance <> coalesce(t.balance_after, 0) or c.granted - c.charged <> c.balance
      or (a.sequence - c.sequence < ${UNSUMMED_MAX} and c.granted <> a.total_granted
        - (select coalesce(sum(n.amount), 0) from ledger_transfer n
           where n.account_id = c.user_id and n.sequence > c.sequence and n.kind in ('grant', 'redeem', 'adjustment')))
      or c.call_id > greatest((select max(n.id) from chat_call n where n.user_id = c.user_id),
                              (select before_id from retention where subject = 'call'), '')
      or greatest(c.began_at, c.verified_at) > now() + make_interval(secs => ${CLOCKS_SECONDS})`);
}

async function readPositions(tx: Em, userIds: readonly string[]): Promise<Position[]> {
  const rows = await tx.execute<{ position: Position }[]>(sql`
    select jsonb_build_object('user_id', c.user_id, 'sequence', c.sequence::text, 'balance', c.balance::text,
        'granted', c.granted::text, 'charged', c.charged::text, 'keys', c.keys, 'call_id', c.call_id,
        'task_xid', c.task_xid::text, 'task_id', c.task_id) as position
    from jsonb_array_elements_text(${JSON.stringify(userIds)}::jsonb) i (id)
    join ledger_checkpoint c on c.user_id = i.id
    where c.began_at between now() - make_interval(days => ${HISTORY_DAYS}) and now()`);
  const known = new Map(rows.map(({ position }) => [position.user_id, position]));
  return userIds.map((userId) => known.get(userId) ?? beginningOf(userId));
}

async function moveCheckpoints(tx: Em, steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return;
  const moves = steps.map(({ from, to, is_reached }) => ({
    ...to,
    is_reached,
    is_beginning: from.sequence === '0' && from.task_xid === '0' && from.call_id === '',
  }));
  await tx.execute(sql`
    insert into ledger_checkpoint as c
      (user_id, sequence, balance, granted, charged, keys, call_id, task_xid, task_id, verified_at)
    select s.user_id, s.sequence, s.balance, s.granted, s.charged, s.keys, s.call_id, s.task_xid, s.task_id,
           case when s.is_reached then now() else u.created_at end
    from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as s (user_id text, sequence bigint, balance bigint,
      granted bigint, charged bigint, keys jsonb, call_id text, task_xid xid8, task_id text, is_reached boolean)
    join app_user u on u.id = s.user_id
    on conflict (user_id) do update
    set sequence = excluded.sequence, balance = excluded.balance, granted = excluded.granted,
        charged = excluded.charged, keys = excluded.keys, call_id = excluded.call_id, task_xid = excluded.task_xid,
        task_id = excluded.task_id, verified_at = greatest(c.verified_at, excluded.verified_at)`);
  const begun = moves.filter(({ is_beginning }) => is_beginning).map(({ user_id }) => user_id);
  if (begun.length === 0) return;
  await tx.execute(sql`
    update ledger_checkpoint set began_at = now()
    where user_id in (select jsonb_array_elements_text(${JSON.stringify(begun)}::jsonb))`);
}
