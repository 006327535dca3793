// What the metrics show of tasks and money: open rows, found by their indexes, and sums over accounts.
import { sql } from '@mikro-orm/postgresql';
import { toCredits } from '../domain/credits.ts';
import { listCredentialLoad, type CredentialLoad } from './tasks/credentials.ts';
import { LOSSES_TODAY } from './ledger/loss-brake.ts';
import { readMicroCredits } from './columns.ts';
import type { Database } from './database.ts';

/** Ages are in seconds by the database's clock, 0 where there is no row; amounts are in credits. */
export interface MetricsSnapshot {
  openTasks: { status: 'queued' | 'in_progress'; count: number; oldestSeconds: number }[];
  /** Queued tasks that no workflow has begun: their start was lost, or Temporal or the workers are away. */
  unstarted: { count: number; oldestSeconds: number };
  openReservations: { count: number; oldestSeconds: number };
  /**
   * Deliveries of webhooks that are due and that no worker has claimed yet, without first attempts to
   * endpoints that are failing.
   */
  webhooksDue: { count: number; oldestSeconds: number };
  granted: number;
  charged: number;
  balance: number;
  reserved: number;
  /** What tasks and chat calls cost beyond their charge, summed over all time. */
  loss: number;
  /** The part of it that was settled on this UTC day, and the largest part of a single user. */
  lossToday: number;
  userLossTodayMax: number;
  frozenAccounts: number;
  violations: { rule: string; count: number }[];
  /** Since the account was verified that was verified the longest ago; those with violations do not count. */
  checkAgeSeconds: number;
  /** Accounts that were verified within the last hour. */
  checkedAccounts: number;
  /** How far the sums of usage lie back; 0 before the first. */
  unsummedSeconds: number;
  /** What is removed by age: how many ever, and for how long the last time lies back that nothing was due. */
  removals: { subject: string; removed: number; finishedSeconds: number | null }[];
  /** Jobs and cooldowns of the operator's vendor accounts that have any. */
  credentials: CredentialLoad[];
}

interface Row {
  openTasks: MetricsSnapshot['openTasks'] | null;
  unstarted: MetricsSnapshot['unstarted'];
  openReservations: MetricsSnapshot['openReservations'];
  webhooksDue: MetricsSnapshot['webhooksDue'];
  sums: Record<'granted' | 'charged' | 'balance' | 'reserved' | 'loss', string> & { frozen: number };
  losses: Record<'sum' | 'max', string>;
  violations: MetricsSnapshot['violations'] | null;
  checks: { ageSeconds: number; accounts: number };
  removals: MetricsSnapshot['removals'] | null;
  unsummedSeconds: number;
}

/** When a task came into its status: the deadline counts from the start of the work. */
const SINCE = sql`case status when 'in_progress' then coalesce(started_at, created_at) else created_at end`;

/**
 * In two halves, each of which has an index. First attempts to an endpoint that is failing are held back on
 * purpose, and are no backlog of ours.
 */
const WEBHOOKS_DUE = sql`
  select relay_after from webhook_delivery d
  where state = 'pending' and attempts = 0 and relay_after <= now() and not exists (
    select from webhook_endpoint e where e.id = d.endpoint_id and e.failing_since is not null)
  union all
  select relay_after from webhook_delivery where state = 'pending' and attempts > 0 and relay_after <= now()`;

/** One statement, one snapshot. Amounts come as strings, because JSON has no integers of that size. */
export async function readMetricsSnapshot(database: Database): Promise<MetricsSnapshot> {
  const em = database.em.fork();
  const [row] = await em.execute<Row[]>(sql`
    select
      (select jsonb_agg(t) from (
        select status, count(*)::int as count, coalesce(extract(epoch from clock_timestamp() - min(${SINCE})), 0)::float8 as "oldestSeconds"
        from task where status in ('queued', 'in_progress') group by status) t) as "openTasks",
      (select jsonb_build_object('count', count(*),
          'oldestSeconds', coalesce(extract(epoch from clock_timestamp() - min(updated_at)), 0))
        from task where status = 'queued' and admitted_at is null) as "unstarted",
      (select jsonb_build_object('count', count(*),
          'oldestSeconds', coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0))
        from (select created_at from task_attempt where state = 'open'
              union all select created_at from chat_call where status = 'open') r) as "openReservations",
      (select jsonb_build_object('count', count(*),
          'oldestSeconds', coalesce(extract(epoch from clock_timestamp() - min(relay_after)), 0))
        from (${WEBHOOKS_DUE}) d) as "webhooksDue",
      (select jsonb_build_object(
          'granted', coalesce(sum(total_granted), 0)::text, 'charged', coalesce(sum(total_charged), 0)::text,
          'balance', coalesce(sum(balance), 0)::text, 'reserved', coalesce(sum(reserved + earmarked), 0)::text,
          'loss', coalesce(sum(total_loss), 0)::text, 'frozen', count(frozen_at)) from account) as sums,
      (select jsonb_build_object('sum', coalesce(sum(loss), 0)::text, 'max', coalesce(max(loss), 0)::text)
        from (select sum(loss) as loss from (${LOSSES_TODAY}) l group by user_id) u) as losses,
      (select jsonb_agg(v) from (
        select rule, count(*)::int as count from ledger_violation where resolved_at is null group by rule) v)
        as violations,
      (select jsonb_build_object(
          'ageSeconds', greatest(coalesce(extract(epoch from clock_timestamp() - coalesce(
            (select c.verified_at from ledger_checkpoint c
             where not exists (select from ledger_violation v where v.user_id = c.user_id and v.resolved_at is null)
             order by c.verified_at limit 1),
            (select u.created_at from app_user u order by u.id limit 1))), 0), 0),
          'accounts', (select count(*) from ledger_checkpoint where verified_at > now() - interval '1 hour'))) as checks,
      (select jsonb_agg(r) from (
        select subject, removed, extract(epoch from clock_timestamp() - finished_at)::float8 as "finishedSeconds"
        from retention) r) as removals,
      (select coalesce(extract(epoch from clock_timestamp() - nullif(until, '-infinity')), 0)::float8
        from usage_watermark) as "unsummedSeconds"`);
  if (!row) throw new Error('the database answered nothing');
  return {
    openTasks: row.openTasks ?? [],
    unstarted: row.unstarted,
    openReservations: row.openReservations,
    webhooksDue: row.webhooksDue,
    granted: readCredits(row.sums.granted),
    charged: readCredits(row.sums.charged),
    balance: readCredits(row.sums.balance),
    reserved: readCredits(row.sums.reserved),
    loss: readCredits(row.sums.loss),
    lossToday: readCredits(row.losses.sum),
    userLossTodayMax: readCredits(row.losses.max),
    frozenAccounts: row.sums.frozen,
    violations: row.violations ?? [],
    checkAgeSeconds: row.checks.ageSeconds,
    checkedAccounts: row.checks.accounts,
    unsummedSeconds: row.unsummedSeconds,
    removals: row.removals ?? [],
    credentials: await listCredentialLoad(em),
  };
}

function readCredits(microCredits: string): number {
  return toCredits(readMicroCredits(microCredits));
}
