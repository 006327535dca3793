// What the internal listener of the API tells Prometheus beside its requests: tasks and money, read when it asks.
import { Counter, Gauge, type Registry } from 'prom-client';
import { readMetricsSnapshot, type MetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { answerWithin } from '../../runtime/readiness.ts';
import { countWaitingPasswords } from '../../db/identity/passwords.ts';
import { readPoolMetrics } from '../../db/pool.ts';
import { addProcessMetrics } from '../../runtime/process-metrics.ts';
import type { Limits } from '../limits/limits.ts';
import type { Database } from '../../db/database.ts';
import type { Services } from '../services.ts';

const FIGURES_WAIT_MS = 2_000;

/** Every process tells the same figures of the database: take their maximum, not their sum. */
export function addMetrics({ metrics, database, limits }: Services, probe: Database): void {
  const { registry } = metrics;
  addProcessMetrics(registry, {
    readPool: () => readPoolMetrics(database),
    countPasswordsWaiting: countWaitingPasswords,
  });
  addLimitMetrics(registry, limits);
  const registers = [registry];
  const read = createFiguresReader(probe);

  /** Absent while the database is away, rather than wrong. */
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    show: (figures: MetricsSnapshot, set: (labels: Record<Label, string>, value: number) => void) => void,
  ): void => {
    const series: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: async () => {
        series.reset();
        const figures = await read();
        if (figures) show(figures, (labels, value) => series.set(labels, value));
        else series.remove({});
      },
    });
  };
  const figure = (name: string, help: string, pick: (figures: MetricsSnapshot) => number): void =>
    gauge(name, help, [], (figures, set) => set({}, pick(figures)));

  const up: Gauge = new Gauge({
    name: 'svc_database_up',
    help: 'Whether the database answered this scrape',
    registers,
    collect: async () => up.set((await read()) ? 1 : 0),
  });
  gauge('svc_tasks_open', 'Tasks that have not ended', ['status'], ({ openTasks }, set) => {
    for (const { status, count } of openTasks) set({ status }, count);
  });
  gauge('svc_tasks_oldest_age_seconds', 'Age of the oldest of them', ['status'], ({ openTasks }, set) => {
    for (const { status, oldestSeconds } of openTasks) set({ status }, oldestSeconds);
  });
  figure('svc_tasks_unstarted', 'Queued tasks no workflow has taken up', (f) => f.unstarted.count);
  figure('svc_tasks_unstarted_age_seconds', 'For how long, at most', (f) => f.unstarted.oldestSeconds);
  figure('svc_reservations_open', 'Reservations that wait for their end', (f) => f.openReservations.count);
  figure('svc_reservations_oldest_age_seconds', 'Age of the oldest', (f) => f.openReservations.oldestSeconds);
  figure('svc_ledger_granted_credits', 'Credits granted and redeemed, ever', (f) => f.granted);
  figure('svc_ledger_charged_credits', 'Credits charged, less refunds, ever', (f) => f.charged);
  figure('svc_ledger_loss_credits', 'What tasks cost beyond their charge, ever', (f) => f.loss);
  figure('svc_ledger_balance_credits', 'Credits of all accounts', (f) => f.balance);
  figure('svc_ledger_reserved_credits', 'Those of them that are set aside', (f) => f.reserved);
  figure('svc_accounts_frozen', 'Accounts that may not spend until looked at', (f) => f.frozenAccounts);
  const credential = ['family', 'credential'];
  gauge(
    'svc_credential_jobs',
    'Jobs at a vendor, by the account that has them',
    credential,
    (figures, set) => {
      for (const { family, credential: id, jobs } of figures.credentials)
        set({ family, credential: id }, jobs);
    },
  );
  gauge(
    'svc_credential_resting',
    'Accounts at vendors that are passed over, and why',
    [...credential, 'reason'],
    (figures, set) => {
      for (const { family, credential: id, cooldownReason: reason } of figures.credentials)
        if (reason !== null) set({ family, credential: id, reason }, 1);
    },
  );
  gauge(
    'svc_ledger_violations',
    'Rules of money that the last check found broken; anything but 0 is an alarm',
    ['rule'],
    ({ violations }, set) => {
      for (const { rule, count } of violations) set({ rule }, count);
    },
  );
}

function addLimitMetrics(registry: Registry, limits: Limits): void {
  const registers = [registry];
  const refused: Counter<'backend'> = new Counter({
    name: 'svc_rate_limited_total',
    help: 'Requests refused with 429, by what did the counting',
    labelNames: ['backend'],
    registers,
    collect: () => {
      refused.reset();
      for (const [backend, count] of Object.entries(limits.metricsSnapshot().refused))
        refused.inc({ backend }, count);
    },
  });
  const redis: Gauge = new Gauge({
    name: 'svc_rate_limiter_redis_up',
    help: 'Whether Redis counts the limits; 0 also where none is configured',
    registers,
    collect: () => redis.set(limits.redis() === 'ok' ? 1 : 0),
  });
  const breaker: Gauge = new Gauge({
    name: 'svc_rate_limiter_breaker_open',
    help: 'Whether Redis is not even asked, because it failed too often',
    registers,
    collect: () => breaker.set(limits.metricsSnapshot().isBreakerOpen ? 1 : 0),
  });
}

/** All gauges of one scrape share one statement. Null when the database does not answer in time. */
function createFiguresReader(probe: Database): () => Promise<MetricsSnapshot | null> {
  let asking: Promise<MetricsSnapshot | null> | undefined;
  return () => {
    asking ??= answerWithin(FIGURES_WAIT_MS, readMetricsSnapshot(probe)).finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
