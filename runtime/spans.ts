// Spans before export: messages masked, stacks removed, the task named.
import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime } from '@opentelemetry/api';
import type { NodeTracerConfig, ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { maskText } from '../domain/masking/masking.ts';
import type { FinishedSpan } from './tracing-types.ts';

type Resource = NonNullable<NodeTracerConfig['resource']>;

const WORKFLOW_ID = 'temporalWorkflowId';
const TASK_WORKFLOW = /^task-(task_[0-9A-Z]{26})$/;

/**
 * Wraps an exporter so that spans leave with masked messages, without stacks, and with the task they are
 * about.
 */
export function cleanExporter(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(clean), done),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Turns a span that was measured elsewhere into the form that exporters take. */
export function readFinished(span: FinishedSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, attributes, startedAt, endedAt } = span;
  const traceFlags = TraceFlags.SAMPLED;
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => ({ traceId, spanId, traceFlags }),
    parentSpanContext: { traceId, spanId: parentSpanId, traceFlags },
    startTime: toHrTime(startedAt),
    endTime: toHrTime(endedAt),
    duration: toHrTime(endedAt - startedAt),
    ended: true,
    status: { code: SpanStatusCode.UNSET },
    attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: 'svc-gateway' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toHrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1e6];
}

function clean(span: ReadableSpan): ReadableSpan {
  const { message } = span.status;
  const [, taskId] = TASK_WORKFLOW.exec(String(span.attributes[WORKFLOW_ID] ?? '')) ?? [];
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(span.parentSpanContext ? { parentSpanContext: span.parentSpanContext } : {}),
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    ended: span.ended,
    status: { code: span.status.code, ...(message === undefined ? {} : { message: maskText(message) }) },
    attributes: { ...span.attributes, ...(taskId === undefined ? {} : { 'svc.task_id': taskId }) },
    links: span.links,
    events: span.events.map(({ attributes, ...event }) => ({ ...event, attributes: cleanEvent(attributes) })),
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}

/** Keeps the type and the masked message of an exception, nothing else. */
function cleanEvent(attributes: Attributes = {}): Attributes {
  const { 'exception.type': type, 'exception.message': message } = attributes;
  return {
    ...(type === undefined ? {} : { 'exception.type': type }),
    ...(typeof message === 'string' ? { 'exception.message': maskText(message) } : {}),
  };
}
