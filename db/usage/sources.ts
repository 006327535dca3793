// The rows that usage is counted from: transfers, ended tasks and calls, losses of attempts; each by its
// time.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { CHAT_KIND } from '../../domain/usage.ts';

/**
 * A table and what of it is counted. Transfers have the alias `l`, calls `c`, attempts `a`; tasks have `t` in
 * all of them.
 */
export interface UsageSource {
  from: RawQueryFragment;
  /** When it counts. A transfer and what it settles have the same time: that of their transaction. */
  at: RawQueryFragment;
  userId: RawQueryFragment;
  keyId: RawQueryFragment;
  kind: RawQueryFragment;
  model: RawQueryFragment;
  /** Null where the row does not name it. */
  family: RawQueryFragment;
  /** Sums in the order of `SUMS`, in the types that `usage_rollup` has for them. */
  sums: RawQueryFragment;
  where: RawQueryFragment;
}

/** The columns of sums, in their order. */
export const SUMS = sql`credits, loss, tasks, calls, failed, prompt_tokens, completion_tokens, images, seconds`;

/** A transfer whose task was removed stays in the sum, without its kind. */
export const TRANSFERS: UsageSource = {
  from: sql`ledger_transfer l left join task t on t.id = l.task_id`,
  at: sql`l.created_at`,
  userId: sql`l.account_id`,
  keyId: sql`l.key_id`,
  kind: sql`case when l.call_id is not null then ${CHAT_KIND} else t.mode end`,
  model: sql`l.model`,
  family: sql`t.family`,
  sums: sql`-sum(l.amount)::bigint as credits, 0::bigint as loss, 0::bigint as tasks, 0::bigint as calls,
    0::bigint as failed, 0::bigint as prompt_tokens, 0::bigint as completion_tokens, 0::numeric as images, 0::numeric as seconds`,
  where: sql`l.kind in ('charge', 'refund')`,
};

export const TASKS: UsageSource = {
  from: sql`task t`,
  at: sql`t.completed_at`,
  userId: sql`t.user_id`,
  keyId: sql`t.key_id`,
  kind: sql`t.mode`,
  model: sql`t.model`,
  family: sql`t.family`,
  sums: sql`0::bigint as credits, 0::bigint as loss, count(*) as tasks, 0::bigint as calls,
    count(*) filter (where t.status = 'failed') as failed, 0::bigint as prompt_tokens, 0::bigint as completion_tokens,
    coalesce(sum((t.ordered ->> 'images')::numeric) filter (where t.status = 'completed' and t.mode = 'image'), 0)
      as images,
    coalesce(sum((t.ordered ->> 'seconds')::numeric) filter (where t.status = 'completed' and t.mode = 'video'), 0)
      as seconds`,
  where: sql`true`,
};

export const CALLS: UsageSource = {
  from: sql`chat_call c`,
  at: sql`c.settled_at`,
  userId: sql`c.user_id`,
  keyId: sql`c.key_id`,
  kind: sql`${CHAT_KIND}::text`,
  model: sql`c.model`,
  family: sql`null::text`,
  sums: sql`0::bigint as credits, sum(c.loss)::bigint as loss, 0::bigint as tasks, count(*) as calls,
    count(*) filter (where c.status = 'failed') as failed, coalesce(sum(c.prompt_tokens), 0)::bigint as prompt_tokens,
    coalesce(sum(c.completion_tokens), 0)::bigint as completion_tokens, 0::numeric as images, 0::numeric as seconds`,
  where: sql`true`,
};

/** An attempt that was retried has its loss, too, when it ended. */
export const TASK_LOSSES: UsageSource = {
  from: sql`task_attempt a join task t on t.id = a.task_id`,
  at: sql`a.settled_at`,
  userId: sql`a.user_id`,
  keyId: sql`a.key_id`,
  kind: sql`t.mode`,
  model: sql`t.model`,
  family: sql`t.family`,
  sums: sql`0::bigint as credits, sum(a.loss)::bigint as loss, 0::bigint as tasks, 0::bigint as calls, 0::bigint as failed,
    0::bigint as prompt_tokens, 0::bigint as completion_tokens, 0::numeric as images, 0::numeric as seconds`,
  where: sql`a.loss > 0`,
};

/** What counts at its end, and has no sequence. */
export const ENDS: readonly UsageSource[] = [TASKS, CALLS, TASK_LOSSES];

/** From this time on, and before the other. */
export interface Period {
  from: Date;
  /** Null: all that there is. */
  to: Date | null;
}

/** Seconds since 1970 instead of a text: PostgreSQL does not read all years that JavaScript writes. */
export function isWithin(at: RawQueryFragment, { from, to }: Period): RawQueryFragment {
  const since = sql`${at} >= to_timestamp(${from.getTime() / 1000})`;
  return to === null ? since : sql`${since} and ${at} < to_timestamp(${to.getTime() / 1000})`;
}
