// Tracing with OpenTelemetry, sent as OTLP over HTTP. Loaded only where tracing is on.
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import { cleanExporter, readFinished } from './spans.ts';
import type { Tracing } from './tracing-types.ts';

/**
 * Call once per process: it becomes the tracer of the process, and carries the current span across awaits.
 */
export function openTelemetry(service: string): Tracing {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service }))
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor(cleanExporter(new OTLPTraceExporter()));
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.register();
  const tracer = trace.getTracer('svc-gateway');
  return {
    startRequest: (traceparent) => startRequest(tracer, traceparent),
    step: (name, attributes, work, describe) =>
      tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setAttribute('error.type', describe(error));
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
    workflowClient: new OpenTelemetryWorkflowClientInterceptor(),
    add: (span) => processor.onEnd(readFinished(span, resource)),
    activities: (activityContext) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(activityContext),
    }),
    stop: () => provider.shutdown(),
  };
}

function startRequest(tracer: Tracer, traceparent: string | string[] | undefined) {
  // Named when it ends: only then its route is known.
  const span = tracer.startSpan('HTTP', { kind: SpanKind.SERVER }, parentOf(traceparent));
  const within = trace.setSpan(ROOT_CONTEXT, span);
  return {
    run: (work: () => void) => context.with(within, work),
    end: ({ name, attributes, isError }: Parameters<ReturnType<Tracing['startRequest']>['end']>[0]) => {
      span.updateName(name);
      span.setAttributes(attributes);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/**
 * Reads the ids alone: `tracestate` and baggage are the caller's texts, and would end up in Temporal's
 * history.
 */
function parentOf(traceparent: string | string[] | undefined): Context {
  const text = typeof traceparent === 'string' ? traceparent : '';
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
