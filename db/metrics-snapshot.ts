// What the database tells of tasks and money to whoever watches: rows that are open, found by their indexes, and sums per account.
import { sql } from '@mikro-orm/postgresql';
import { toCredits } from '../domain/credits.ts';
import { listCredentialLoad, type CredentialLoad } from './tasks/credentials.ts';
import { readMicroCredits } from './columns.ts';
import type { Database } from './database.ts';

/** Ages in seconds by the clock of the database, 0 where there is nothing; amounts in credits. */
export interface MetricsSnapshot {
  openTasks: { status: 'queued' | 'in_progress'; count: number; oldestSeconds: number }[];
  /** Queued tasks that no workflow has taken up: their start was lost, or the engine or the workers are away. */
  unstarted: { count: number; oldestSeconds: number };
  openReservations: { count: number; oldestSeconds: number };
  granted: number;
  charged: number;
  balance: number;
  reserved: number;
  /** What tasks cost beyond their charge, all of it. */
  loss: number;
  frozenAccounts: number;
  violations: { rule: string; count: number }[];
  /** Of the operator's accounts at vendors that work or rest. */
  credentials: CredentialLoad[];
}

interface Row {
  openTasks: MetricsSnapshot['openTasks'] | null;
  unstarted: MetricsSnapshot['unstarted'];
  openReservations: MetricsSnapshot['openReservations'];
  sums: Record<'granted' | 'charged' | 'balance' | 'reserved', string> & { frozen: number };
  loss: string;
  violations: MetricsSnapshot['violations'] | null;
}

/** JSON has no integers of the size of money, so amounts come as texts. */
export async function readMetricsSnapshot(database: Database): Promise<MetricsSnapshot> {
  const em = database.em.fork();
  const [row] = await em.execute<Row[]>(sql`
    select
      (select jsonb_agg(t) from (
        select status, count(*)::int as count, coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds"
        from task where status in ('queued', 'in_progress') group by status) t) as "openTasks",
      (select jsonb_build_object('count', count(*),
          'oldestSeconds', coalesce(extract(epoch from clock_timestamp() - min(updated_at)), 0))
        from task where status = 'queued' and admitted_at is null) as "unstarted",
      (select jsonb_build_object('count', count(*),
          'oldestSeconds', coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0))
        from reservation where state = 'open') as "openReservations",
      (select jsonb_build_object(
          'granted', coalesce(sum(total_granted), 0)::text, 'charged', coalesce(sum(total_charged), 0)::text,
          'balance', coalesce(sum(balance), 0)::text, 'reserved', coalesce(sum(reserved), 0)::text,
          'frozen', count(frozen_at)) from account) as sums,
      (select coalesce(sum(loss), 0)::text from reservation where loss > 0) as loss,
      (select jsonb_agg(v) from (
        select rule, count(*)::int as count from ledger_violation where resolved_at is null group by rule) v)
        as violations`);
  if (!row) throw new Error('the database answered nothing');
  const { sums } = row;
  return {
    openTasks: row.openTasks ?? [],
    unstarted: row.unstarted,
    openReservations: row.openReservations,
    granted: readCredits(sums.granted),
    charged: readCredits(sums.charged),
    balance: readCredits(sums.balance),
    reserved: readCredits(sums.reserved),
    loss: readCredits(row.loss),
    frozenAccounts: sums.frozen,
    violations: row.violations ?? [],
    credentials: await listCredentialLoad(em),
  };
}

function readCredits(microCredits: string): number {
  return toCredits(readMicroCredits(microCredits));
}
