// Stands around every workflow while tracing is on: passes the trace on to activities, and tells when a run
// has ended. It adds no step, waits for nothing and draws no random number, so that runs replay with it and
// without it.
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** In which the engine's client and its activities carry a trace. */
const TRACE_HEADER = '_tracer-data';

/** A run as a span. Its times are the workflow's, in milliseconds. */
export interface RunSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  startedAt: number;
  endedAt: number;
  isCompleted: boolean;
}

export interface TracingSinks extends Sinks {
  tracing: { runEnded(span: RunSpan): void };
}

/** Made anew for each run. A run that was started without a trace has none. */
export const interceptors = (): WorkflowInterceptors => {
  const { tracing } = proxySinks<TracingSinks>();
  let own: Headers = {};
  return {
    inbound: [
      {
        execute: (input, next) => {
          const parent = readTrace(input.headers);
          if (!parent) return next(input);
          const spanId = workflowInfo().runId.replaceAll('-', '').slice(-16);
          const traceparent = `00-${parent.traceId}-${spanId}-${parent.flags}`;
          own = { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
          const startedAt = Date.now();
          const tell = (isCompleted: boolean): void =>
            tracing.runEnded({
              traceId: parent.traceId,
              spanId,
              parentSpanId: parent.spanId,
              startedAt,
              endedAt: Date.now(),
              isCompleted,
            });
          const run = next(input);
          void run.then(
            () => tell(true),
            () => tell(false),
          );
          return run;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...own } }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...own } }),
      },
    ],
  };
};

/** Null when there is none, or when nobody wants to see it. */
function readTrace(headers: Headers): { traceId: string; spanId: string; flags: string } | null {
  const payload = headers[TRACE_HEADER];
  const carrier: unknown = payload && defaultPayloadConverter.fromPayload(payload);
  const traceparent: unknown =
    typeof carrier === 'object' && carrier !== null ? Reflect.get(carrier, 'traceparent') : undefined;
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(01)$/.exec(
    typeof traceparent === 'string' ? traceparent : '',
  );
  const [, traceId, spanId, flags] = parts ?? [];
  return traceId && spanId && flags ? { traceId, spanId, flags } : null;
}
