// Prometheus metrics of tasks and money, read from the database at each scrape.
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../../db/database.ts';
import { readMetricsSnapshot, type MetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { answerWithin } from '../../runtime/readiness.ts';

interface GaugeDefinition {
  name: string;
  help: string;
  labelNames: readonly string[];
  samplesOf: (snapshot: MetricsSnapshot) => readonly Sample[];
}

interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

const SNAPSHOT_WAIT_MS = 2_000;

const GAUGES: readonly GaugeDefinition[] = [
  {
    name: 'svc_tasks_open',
    help: 'Tasks that have not ended',
    labelNames: ['status'],
    samplesOf: ({ openTasks }) => openTasks.map(({ status, count }) => sample(count, { status })),
  },
  {
    name: 'svc_tasks_oldest_age_seconds',
    help: 'Age of the oldest of them',
    labelNames: ['status'],
    samplesOf: ({ openTasks }) =>
      openTasks.map(({ status, oldestSeconds }) => sample(oldestSeconds, { status })),
  },
  single('svc_tasks_unstarted', 'Queued tasks no workflow has taken up', (s) => s.unstarted.count),
  single('svc_tasks_unstarted_age_seconds', 'For how long, at most', (s) => s.unstarted.oldestSeconds),
  single('svc_reservations_open', 'Reservations that wait for their end', (s) => s.openReservations.count),
  single('svc_reservations_oldest_age_seconds', 'Age of the oldest', (s) => s.openReservations.oldestSeconds),
  single(
    'svc_webhooks_due',
    'Deliveries of webhooks that are due and unclaimed, their receivers not failing',
    (s) => s.webhooksDue.count,
  ),
  single('svc_webhooks_due_age_seconds', 'For how long, at most', (s) => s.webhooksDue.oldestSeconds),
  single('svc_ledger_granted_credits', 'Credits granted and redeemed, ever', (s) => s.granted),
  single('svc_ledger_charged_credits', 'Credits charged, less refunds, ever', (s) => s.charged),
  single('svc_ledger_loss_credits', 'What tasks cost beyond their charge, ever', (s) => s.loss),
  single('svc_loss_today_credits', 'The part of it of this UTC day', (s) => s.lossToday),
  single(
    'svc_user_loss_today_max_credits',
    'The largest part of a single user; the summary of usage by user names them',
    (s) => s.userLossTodayMax,
  ),
  single('svc_ledger_balance_credits', 'Credits of all accounts', (s) => s.balance),
  single('svc_ledger_reserved_credits', 'Those of them that are set aside', (s) => s.reserved),
  single('svc_accounts_frozen', 'Accounts that may not spend until looked at', (s) => s.frozenAccounts),
  {
    name: 'svc_credential_jobs',
    help: 'Jobs at a vendor, by the account that has them',
    labelNames: ['family', 'credential'],
    samplesOf: ({ credentials }) =>
      credentials.map(({ family, credential, jobs }) => sample(jobs, { family, credential })),
  },
  {
    name: 'svc_credential_resting',
    help: 'Accounts at vendors that are passed over, and why',
    labelNames: ['family', 'credential', 'reason'],
    samplesOf: ({ credentials }) =>
      credentials.flatMap(({ family, credential, cooldownReason: reason }) =>
        reason === null ? [] : [sample(1, { family, credential, reason })],
      ),
  },
  single(
    'svc_ledger_check_age_seconds',
    'Since the account was checked that was checked the longest ago',
    (s) => s.checkAgeSeconds,
  ),
  single(
    'svc_ledger_accounts_checked',
    'Accounts that were found in order within the last hour',
    (s) => s.checkedAccounts,
  ),
  single('svc_usage_unsummed_seconds', 'How far the sums of usage lie back', (s) => s.unsummedSeconds),
  {
    name: 'svc_retention_removed',
    help: 'Removed because of its age, ever',
    labelNames: ['subject'],
    samplesOf: ({ removals }) => removals.map(({ subject, removed }) => sample(removed, { subject })),
  },
  {
    name: 'svc_retention_finished_age_seconds',
    help: 'Since nothing older than its setting was left',
    labelNames: ['subject'],
    samplesOf: ({ removals }) =>
      removals.flatMap(({ subject, finishedSeconds }) =>
        finishedSeconds === null ? [] : [sample(finishedSeconds, { subject })],
      ),
  },
  {
    name: 'svc_ledger_violations',
    help: 'Rules of money that the last check found broken; anything but 0 is an alarm',
    labelNames: ['rule'],
    samplesOf: ({ violations }) => violations.map(({ rule, count }) => sample(count, { rule })),
  },
];

/**
 * Adds the metrics to the registry. Every process reports the same values, because they are those of the
 * shared database: take their maximum, not their sum. While the database is away, all but `svc_database_up`
 * are absent.
 */
export function addDatabaseMetrics(registry: Registry, database: Database): void {
  const registers = [registry];
  const readSnapshot = createSnapshotReader(database);
  const up: Gauge = new Gauge({
    name: 'svc_database_up',
    help: 'Whether the database answered this scrape',
    registers,
    collect: async () => up.set((await readSnapshot()) ? 1 : 0),
  });
  for (const { name, help, labelNames, samplesOf } of GAUGES) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: async () => {
        gauge.reset();
        const snapshot = await readSnapshot();
        if (!snapshot) return gauge.remove({});
        for (const { labels, value } of samplesOf(snapshot)) gauge.set(labels, value);
      },
    });
  }
}

/** A gauge without labels. */
function single(name: string, help: string, pick: (snapshot: MetricsSnapshot) => number): GaugeDefinition {
  return { name, help, labelNames: [], samplesOf: (snapshot) => [sample(pick(snapshot), {})] };
}

function sample(value: number, labels: Readonly<Record<string, string>>): Sample {
  return { labels, value };
}

/** Reads once per scrape: all gauges share one statement. Null when the database does not answer in time. */
function createSnapshotReader(database: Database): () => Promise<MetricsSnapshot | null> {
  let reading: Promise<MetricsSnapshot | null> | undefined;
  return () => {
    reading ??= answerWithin(SNAPSHOT_WAIT_MS, readMetricsSnapshot(database)).finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
