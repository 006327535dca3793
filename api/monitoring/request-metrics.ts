// Prometheus metrics of the requests that this process has answered or refused.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface EndedRequest {
  /** The pattern of the route, never the URL; `unmatched` where no route fits. */
  route: string;
  method: string;
  status: number;
  /** The code of the error catalogue; empty for answers that are no error. */
  code: string;
  seconds: number;
}

export interface RequestMetrics {
  /** The registry of the metrics. Each gateway has its own, because tests run several in one process. */
  registry: Registry;
  started(): void;
  ended(request: EndedRequest): void;
  /** Counts a request that was refused with 503 `overloaded`, by what was short. */
  shed(reason: string): void;
  /** Counts a connection that was refused before a request was complete: malformed, too large or too slow. */
  refusedRaw(code: string): void;
}

/** Buckets from reading one row to waiting for a slow workflow engine; streams last minutes. */
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

export function createRequestMetrics(): RequestMetrics {
  const registry = new Registry();
  const registers = [registry];
  const duration = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'From the first look at a request to the end of its answer',
    labelNames: ['route', 'method', 'status', 'code'],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'svc_http_requests_in_flight',
    help: 'Requests that are being answered',
    registers,
  });
  const shed = new Counter({
    name: 'svc_http_requests_shed_total',
    help: 'Requests refused with 503 overloaded before they were read, by what was short',
    labelNames: ['reason'],
    registers,
  });
  const refused = new Counter({
    name: 'svc_http_connections_refused_total',
    help: 'Connections closed because what came was too slow, too large or not HTTP',
    labelNames: ['code'],
    registers,
  });
  return {
    registry,
    started: () => inFlight.inc(),
    ended: ({ seconds, ...labels }) => {
      inFlight.dec();
      duration.observe(labels, seconds);
    },
    shed: (reason) => shed.inc({ reason }),
    refusedRaw: (code) => refused.inc({ code }),
  };
}
