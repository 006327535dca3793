// Traces: request, workflow, activities and vendor calls as one. Not even loaded unless configured.
import type { Tracing } from './tracing-types.ts';

/**
 * Null unless it is on. The standard OTEL_* settings say where to send, which traces, and the service name.
 */
export async function startTracing(settings: {
  exporter: 'otlp' | 'none';
  service: string;
}): Promise<Tracing | null> {
  if (settings.exporter === 'none') return null;
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry(settings.service);
}
