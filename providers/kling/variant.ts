// What the two APIs of Kling have in common, as far as the adapter can tell.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonObject } from '../http/json-api.ts';
import type { JobState, UpstreamJob } from '../provider.ts';
import type { Members } from '../http/json-fields.ts';

export interface KlingVariant {
  /** Kept in job handles, under `dialect`. */
  readonly name: string;
  submitPath(job: UpstreamJob): string;
  /** `images`: the input images as the vendor takes them, see `toKlingImage`. */
  requestBody(job: UpstreamJob, images: readonly string[]): JsonObject;
  /** What the handle keeps beyond the id. */
  detailsOf(job: UpstreamJob): Record<string, string>;
  pollPath(handle: JobHandle): string;
  lookUpPath(job: UpstreamJob): string;
  /** All tasks in an answer's data. */
  tasksIn(data: unknown): readonly Members[];
  idOf(task: Members): string | null;
  /** The external id that the gateway gave the task; null where the answer does not repeat it. */
  externalIdOf(task: Members): string | null;
  readState(task: Members): JobState;
}

/** The reference as `external_task_id`, in characters that need no escaping in paths and lists. */
export function externalIdOf({ reference }: UpstreamJob): string {
  return reference.replaceAll(/[^\w-]/g, '-');
}
