// What the two video APIs of MiniMax have in common, as far as the adapter can tell.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonApi } from '../http/json-api.ts';
import type { Cancellation, JobState, Submission, UpstreamJob } from '../provider.ts';

export interface HailuoVariant {
  /** Kept in job handles, under `dialect`. */
  readonly name: string;
  submit(api: JsonApi, job: UpstreamJob): Promise<Submission>;
  poll(api: JsonApi, handle: JobHandle, signal?: AbortSignal): Promise<JobState>;
  /** Absent: this API cannot stop a job. */
  cancel?(api: JsonApi, handle: JobHandle, signal?: AbortSignal): Promise<Cancellation>;
}
