// What the two video APIs of MiniMax have in common, as far as the adapter can tell.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ToFailure, UpstreamResponse } from '../http/status.ts';
import type { JobState, UpstreamJob } from '../provider.ts';

export type Answer = UpstreamResponse & { json: unknown };

/** Calls in the name of one credential. Each throws the UpstreamFailure that `judge` makes of a refusal. */
export interface HailuoCalls {
  get(path: string, judge: ToFailure): Promise<Answer>;
  post(path: string, body: Record<string, JsonValue>, judge: ToFailure): Promise<Answer>;
  delete(path: string, judge: ToFailure): Promise<Answer>;
}

export interface HailuoDialect {
  /** Stands in job handles. */
  readonly name: string;
  submit(calls: HailuoCalls, job: UpstreamJob): Promise<{ id: string; upstreamRequestId: string | null }>;
  poll(calls: HailuoCalls, handle: JobHandle): Promise<JobState>;
  /** Absent: this API cannot stop a job. */
  cancel?(calls: HailuoCalls, handle: JobHandle): Promise<'cancelled' | 'too_late'>;
}
