// Workflow interceptors while tracing is on: they pass the trace on to activities and to a further run, and
// report the end of a run. They add no step, wait for nothing and draw no random number, so that runs replay
// with and without them.
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  ContinueAsNew,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptors,
} from '@temporalio/workflow';

/** The header in which Temporal's client and activities carry a trace. */
const TRACE_HEADER = '_tracer-data';

/** A run as a span. Its times are those of the workflow's clock, in milliseconds. */
export interface RunSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  startedAt: number;
  endedAt: number;
  /** Also true of a run that goes on in a further one, which is then a child of this span. */
  isCompleted: boolean;
}

export interface TracingSinks extends Sinks {
  tracing: { runEnded(span: RunSpan): void };
}

/** Called for each run. A run that was started without a trace reports none. */
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
          const report = (isCompleted: boolean): void =>
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
            () => report(true),
            (error: unknown) => report(error instanceof ContinueAsNew),
          );
          return run;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...own } }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...own } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...own } }),
      },
    ],
  };
};

/** The trace in the headers; null when there is none, or it is not sampled. */
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
