// Simulates items that come at random and wait, in the order of their arrival, for one of some equal servers.
import type { Chance } from '../soak/random.ts';

export interface Station {
  name: string;
  /** Cores, slots or places that each serve one item at a time. */
  servers: number;
  /** The mean; times are exponential, so that one item in twenty takes three times as long. */
  serviceMs: number;
}

export interface Seen {
  name: string;
  /** Share of the servers' time that was used, from the first arrival to the last; never above 1. */
  busy: number;
  waitP95Ms: number;
  /** Items that waited when the last one came. */
  waiting: number;
}

/** Sends `items` through the stations, one after the other, `perSecond` of them on average. */
export function simulate(
  stations: readonly Station[],
  { perSecond, items }: { perSecond: number; items: number },
  chance: Chance,
): Seen[] {
  let arrivals = new Float64Array(items);
  for (let item = 0, at = 0; item < items; item += 1) {
    at += exponential(1_000 / perSecond, chance);
    arrivals[item] = at;
  }
  const lastMs = arrivals[items - 1] ?? 0;
  return stations.map((station) => {
    const served = serve(station, arrivals, chance);
    arrivals = served.ends.sort();
    const usedMs = served.serviceMs / station.servers;
    return {
      name: station.name,
      busy: Math.min(usedMs / lastMs, 1),
      waitP95Ms: served.waits.sort()[Math.floor(items * 0.95)] ?? 0,
      waiting: served.starts.filter((start) => start > lastMs).length,
    };
  });
}

/** Each item begins when it has come and the server that is free first is free. */
function serve(
  { servers, serviceMs }: Station,
  arrivals: Float64Array<ArrayBuffer>,
  chance: Chance,
): Record<'ends' | 'starts' | 'waits', Float64Array<ArrayBuffer>> & { serviceMs: number } {
  const free = new Float64Array(servers); // a heap: the least comes first
  const seen = { ends: new Float64Array(arrivals.length), starts: new Float64Array(arrivals.length) };
  const waits = new Float64Array(arrivals.length);
  let used = 0;
  for (const [item, arrival] of arrivals.entries()) {
    const start = Math.max(arrival, free[0] ?? 0);
    const service = exponential(serviceMs, chance);
    used += service;
    seen.starts[item] = start;
    waits[item] = start - arrival;
    seen.ends[item] = start + service;
    replaceLeast(free, start + service);
  }
  return { ...seen, waits, serviceMs: used };
}

function replaceLeast(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const child = readAt(heap, right) < readAt(heap, left) ? right : left;
    if (readAt(heap, child) >= value) break;
    heap[at] = readAt(heap, child);
    at = child;
  }
  heap[at] = value;
}

function readAt(heap: Float64Array, index: number): number {
  return heap[index] ?? Infinity;
}

function exponential(mean: number, chance: Chance): number {
  return -Math.log(1 - chance.next()) * mean;
}
