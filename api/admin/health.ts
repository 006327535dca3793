// GET /api/admin/health: what the metrics know, for people with the permission.
import { readMetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { readVendorHealth, type VendorHealth } from '../../db/tasks/vendor-health.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import type { HealthView, VendorView } from '../shapes/health.ts';

export async function readHealth({ services, em }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limits, database, events, catalog } = services;
  const [snapshot, vendors] = await Promise.all([readMetricsSnapshot(database), readVendorHealth(em)]);
  const families = new Set([...catalog.models.values()].map(({ family }) => family));
  for (const { family } of vendors) families.add(family);
  const data: HealthView = {
    tasks: snapshot.openTasks,
    unstarted: snapshot.unstarted,
    reservations: snapshot.openReservations,
    vendors: [...families].sort().map((family) => ({
      family,
      credentials: vendors.filter((vendor) => vendor.family === family).map(presentVendor),
    })),
    limiter: {
      redis: limits.redis(),
      breakerOpen: limits.metricsSnapshot().isBreakerOpen,
      refused: limits.metricsSnapshot().refused,
    },
    waiting: { streams: events.watcher.counts().followers, calls: events.watcher.counts().awaited },
    violations: snapshot.violations,
    frozenAccounts: snapshot.frozenAccounts,
  };
  return { status: 200, body: { data } };
}

function presentVendor({ credential, jobs, cooldown, lastHour }: VendorHealth): VendorView {
  return {
    credential,
    jobs,
    cooldown: cooldown && { reason: cooldown.reason, until: cooldown.until.toISOString() },
    lastHour,
  };
}
