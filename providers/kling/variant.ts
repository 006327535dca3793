// What the two APIs of Kling have in common, as far as the adapter can tell.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { JobState, UpstreamJob } from '../provider.ts';
import type { Members } from '../http/json-fields.ts';

export interface KlingVariant {
  /** Stands in job handles. */
  readonly name: string;
  /** Where the job is handed over. `images` are its input images as this vendor takes them. */
  order(job: UpstreamJob, images: readonly string[]): { path: string; body: Record<string, JsonValue> };
  /** What a handle has to remember beyond the id. */
  detailsOf(job: UpstreamJob): Record<string, string>;
  pollPath(handle: JobHandle): string;
  lookUpPath(job: UpstreamJob): string;
  /** All tasks of which an answer tells. */
  tasksIn(data: unknown): readonly Members[];
  idOf(task: Members): string | null;
  /** The id that we gave the task, where the answer tells it. */
  externalIdOf(task: Members): string | null;
  readState(task: Members): JobState;
}

/** The reference as `external_task_id`: in letters that need no escaping in paths and lists. */
export function externalIdOf({ reference }: UpstreamJob): string {
  return reference.replaceAll(/[^\w-]/g, '-');
}
