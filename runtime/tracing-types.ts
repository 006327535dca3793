// The types of tracing, shared by its parts.
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

export interface RequestSpan {
  /** What runs in here, and whatever it starts, belongs to the request. */
  run(work: () => void): void;
  end(facts: { name: string; attributes: TraceAttributes; isError: boolean }): void;
}

export interface Tracing {
  /** `traceparent` is the header of W3C Trace Context; anything else in it begins a trace of its own. */
  startRequest(traceparent: string | string[] | undefined): RequestSpan;
  /** A step within the current trace. `describe` tells what its error was, in words that hold no secret. */
  step<Result>(
    name: string,
    attributes: TraceAttributes,
    work: () => Promise<Result>,
    describe: (error: unknown) => string,
  ): Promise<Result>;
  /** A span that somebody else measured. */
  add(span: FinishedSpan): void;
  /** Pass the trace on: to the workflow, and from the workflow to what an activity does. */
  workflowClient: WorkflowClientInterceptor;
  activities: ActivityInterceptorsFactory;
  /** Sends what is still to be sent. */
  stop(): Promise<void>;
}

/** Ids in hexadecimal, times in milliseconds. */
export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  startedAt: number;
  endedAt: number;
  attributes: TraceAttributes;
}
