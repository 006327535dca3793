// The types of tracing, shared by its parts.
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

export interface RequestSpan {
  /** Runs `work` within the span: all it starts belongs to the request. */
  run(work: () => void): void;
  end(facts: { name: string; attributes: TraceAttributes; isError: boolean }): void;
}

export interface Tracing {
  /**
   * Starts the span of a request. `traceparent`: header of W3C Trace Context; if it is malformed, a new trace
   * begins.
   */
  startRequest(traceparent: string | string[] | undefined): RequestSpan;
  /** Traces a step within the current trace. `describe` names an error in words that hold no secret. */
  step<Result>(
    name: string,
    attributes: TraceAttributes,
    work: () => Promise<Result>,
    describe: (error: unknown) => string,
  ): Promise<Result>;
  /** Adds a span that was measured elsewhere. */
  add(span: FinishedSpan): void;
  /** Interceptors that pass the trace on: to the workflow, and from the workflow to its activities. */
  workflowClient: WorkflowClientInterceptor;
  activities: ActivityInterceptorsFactory;
  /** Sends the spans that are still buffered. */
  stop(): Promise<void>;
}

/** Ids are hexadecimal, times in milliseconds. */
export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  startedAt: number;
  endedAt: number;
  attributes: TraceAttributes;
}
