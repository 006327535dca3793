// Prometheus metrics of the requests that wait for changes in this process.
import { Gauge, type Registry } from 'prom-client';
import type { Watcher } from '../events/watcher.ts';

export function addEventMetrics(registry: Registry, watcher: Watcher): void {
  const registers = [registry];
  const streams: Gauge = new Gauge({
    name: 'svc_event_streams',
    help: 'Open streams of GET /api/events',
    registers,
    collect: () => streams.set(watcher.counts().followers),
  });
  const waiting: Gauge = new Gauge({
    name: 'svc_waiting_calls',
    help: 'Calls with Prefer: wait whose task has not ended',
    registers,
    collect: () => waiting.set(watcher.counts().awaited),
  });
}
