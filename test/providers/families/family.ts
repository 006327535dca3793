// What the conformance suite has to know about one adapter: where the sandbox plays its vendor, and how things end.
import type { UpstreamJob } from '../../../providers/provider.ts';

export interface Family {
  adapter: string;
  family: string;
  /** Of the vendor's base URL in the sandbox. */
  path: string;
  job: UpstreamJob;
  /** How each directive ends, beside those that end the same everywhere. */
  endings: Record<string, string>;
  /** What the vendor tells under `poll=flap`, as it tells it; empty where it tells no progress. */
  progress: readonly number[];
  /** Of an honest vendor, and of one whose figures are missing, negative, huge or a text; null: it depends on the prompt. */
  evidence: { honest: object; doubtful: object | null };
  /** What a cancellation brings while the job is queued, running and done; null: this vendor has none. */
  cancel: { queued: string; running: string; done: string } | null;
  /** What a look-up brings when the vendor took the job and its answer was lost, and when it never got it. */
  lookUp: { lost: string; absent: string } | null;
}
