// How the check of the ledger walks over an account's rows in bounded steps, with sums of what it has passed.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

/** Where a walk over an account stands. Amounts and numbers are texts: JSON has no integers of their size. */
export interface Position {
  user_id: string;
  /** The last transfer whose amount is in the sums. */
  sequence: string;
  balance: string;
  granted: string;
  charged: string;
  keys: Readonly<Record<string, { used: string; day: string; dayUsed: string }>>;
  /** The last chat call that was looked at; all before it are settled. */
  call_id: string;
  /** The last change of a task that was passed; no task id: all changes of earlier transactions were. */
  task_xid: string;
  task_id: string;
}

/** A step: from one position to the next, which is the end of the account's rows if `is_reached`. */
export interface Step {
  user_id: string;
  from: Position;
  to: Position;
  is_reached: boolean;
}

/**
 * The transactions before this one have all ended: none of them changes another task. Later ones are walked
 * over when that is so of them, since one that commits late would be passed unseen.
 */
export const FIRST_UNSETTLED = sql`pg_snapshot_xmin(pg_current_snapshot())`;

/** The position before the first row of an account. */
export function beginningOf(userId: string): Position {
  const sums = { sequence: '0', balance: '0', granted: '0', charged: '0', keys: {} };
  return { user_id: userId, ...sums, call_id: '', task_xid: '0', task_id: '' };
}

/**
 * Takes one step on each account, over at most `rowsMax` transfers, calls and changed tasks of each. The walk
 * over calls stops before the first that is open, so that it passes settled ones only.
 */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
export async function takeSteps(tx: Em, positions: readonly Position[], rowsMax: number): Promise<Step[]> {
  const rows = await tx.execute<{ to: Position; is_reached: boolean }[]>(sql`
    with start as (
      select s.*, least(a.sequence, s.sequence + ${rowsMax}::int) as until, a.sequence as last
      from jsonb_to_recordset(${JSON.stringify(positions)}::jsonb) as s (user_id text, sequence bigint,
        balance bigint, granted bigint, charged bigint, keys jsonb, call_id text, task_xid xid8, task_id text)
      join account a using (user_id)
    ), open_call as materialized (
      select user_id, min(id) as id from chat_call where status = 'open' group by user_id
    )
    select jsonb_build_object(
        'user_id', s.user_id, 'sequence', s.until::text, 'balance', (s.balance + coalesce(m.amount, 0))::text,
        'granted', (s.granted + coalesce(m.granted, 0))::text,
        'charged', (s.charged + coalesce(m.charged, 0))::text, 'keys', coalesce(k.keys, '{}'),
        'call_id', coalesce(c.id, s.call_id),
        'task_xid', case when t.seen < ${rowsMax}::int then ${FIRST_UNSETTLED}::text
                         else t.xid end,
        'task_id', case when t.seen < ${rowsMax}::int then '' else t.id end) as to,
      s.until = s.last and c.seen < ${rowsMax}::int and t.seen < ${rowsMax}::int as is_reached
    from start s left join open_call o on o.user_id = s.user_id
    left join lateral (
      select sum(amount) as amount, sum(amount) filter (where kind in ('grant', 'redeem', 'adjustment')) as granted,
             -sum(amount) filter (where kind in ('charge', 'refund')) as charged
      from ledger_transfer t where t.account_id = s.user_id and t.sequence > s.sequence and t.sequence <= s.until
    ) m on true
    left join lateral (
      select jsonb_object_agg(d.key_id, jsonb_build_object('used', d.used::text, 'day', d.day, 'dayUsed', d.day_used::text))
        as keys
      from (
        select r.key_id, sum(r.used) as used, max(r.day) as day,
               coalesce(sum(r.day_used) filter (where r.day = r.last), 0) as day_used
        from (
          select p.*, max(p.day) over (partition by p.key_id) as last from (
            select key as key_id, (value ->> 'used')::bigint as used, (value ->> 'day')::date as day,
                   (value ->> 'dayUsed')::bigint as day_used
            from jsonb_each(s.keys)
            union all
            select coalesce(c.key_id, h.key_id, t.key_id), -t.amount, coalesce(c.day, h.day), -t.amount
            from ledger_transfer t
            left join chat_call c on c.user_id = t.account_id and c.id = t.call_id
            left join task_attempt h on h.task_id = t.task_id and h.attempt = t.attempt
            where t.account_id = s.user_id and t.sequence > s.sequence and t.sequence <= s.until
              and coalesce(c.key_id, h.key_id, t.key_id) is not null
          ) p
        ) r group by r.key_id
      ) d
    ) k on true
    left join lateral (
      select max(id) as id, count(*) as seen from (
        select c.id from chat_call c
        where c.user_id = s.user_id and c.id > s.call_id and (o.id is null or c.id < o.id)
        order by c.id limit ${rowsMax}::int
      ) passed
    ) c on true
    left join lateral (
      select count(*) as seen, (array_agg(passed.changed_xid::text order by passed.changed_xid desc, passed.id desc))[1] as xid,
             (array_agg(passed.id order by passed.changed_xid desc, passed.id desc))[1] as id
      from (
        select t.changed_xid, t.id from task t
        where t.user_id = s.user_id and t.changed_xid >= s.task_xid
          and (t.changed_xid > s.task_xid or t.id > s.task_id) and t.changed_xid < ${FIRST_UNSETTLED}
        order by t.changed_xid, t.id limit ${rowsMax}::int
      ) passed
    ) t on true`);
  const from = new Map(positions.map((position) => [position.user_id, position]));
  return rows.map(({ to, is_reached }) => {
    const { user_id } = to;
    return { user_id, from: from.get(user_id) ?? beginningOf(user_id), to, is_reached };
  });
}
