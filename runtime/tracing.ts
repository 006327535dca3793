// Traces: request, workflow, activities and calls to vendors as one. Off, and not even loaded, unless it is
// configured.
import type { Tracing } from './tracing-types.ts';

/** Null unless it is on. The standard OTEL_* settings say where to, which of them, and under which name. */
export async function startTracing(settings: {
  exporter: 'otlp' | 'none';
  service: string;
}): Promise<Tracing | null> {
  if (settings.exporter === 'none') return null;
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry(settings.service);
}
