// What the conformance suite has to know about one adapter: where the sandbox plays its vendor, and how
// things end.
import type { UpstreamJob } from '../../../providers/provider.ts';

export interface Family {
  adapter: string;
  family: string;
  /** The path of the vendor's base URL in the sandbox. */
  path: string;
  job: UpstreamJob;
  /** How each directive ends, beside those that end the same everywhere. */
  endings: Record<string, string>;
  /** The progress that the vendor tells under `poll=flap`, unchanged; empty where it tells none. */
  progress: readonly number[];
  /**
   * The evidence of an honest vendor, and of one whose figures are missing, negative, huge or a text; null
   * where it depends on the prompt.
   */
  evidence: { honest: object; doubtful: object | null };
  /** The outcome of cancelling a job while queued, running and done; null where the vendor cannot cancel. */
  cancel: { queued: string; running: string; done: string } | null;
  /** The outcome of a look-up when the answer to a taken job is lost, and when the job never came. */
  lookUp: { lost: string; absent: string } | null;
}

/**
 * The usual ends of a video job, for families to begin with; each family names what differs at its vendor.
 */
export const VIDEO_ENDINGS: Readonly<Record<string, string>> = {
  '': 'video/mp4',
  'submit=500': 'transient, unknown',
  // Without the NUL it is the id of another job.
  'submit=nul_id': 'invalid_response, unknown',
  'outcome=fail reason=internal': 'failed: transient',
  'outcome=fail reason=invalid': 'failed: invalid',
  'outcome=fail reason=quota': 'failed: quota',
  'outcome=fail reason=concurrency': 'failed: concurrency',
  'outcome=fail reason=moderation': 'failed: moderation',
  'outcome=moderated': 'failed: moderation',
  'deliver=0': 'failed: invalid_response',
  'poll=500': 'transient, unknown',
  'poll=429': 'rate, not_received',
  'poll=hang': 'transient, unknown',
  'poll=html': 'invalid_response, unknown',
  'poll=not_found': 'expired, refused',
  'poll=weird*3': 'video/mp4',
  'poll=regress': 'video/mp4',
  'result=404': 'expired, refused',
  'result=html': 'null',
  'result=missing': 'failed: invalid_response',
  'result=private': 'invalid_response, refused',
  'result=redirect_private': 'invalid_response, refused',
  'result=javascript': 'null',
  'result=slow': 'transient, not_received',
  'result=endless': 'invalid_response, refused',
  'result=truncated': 'transient, not_received',
  'usage=text': 'video/mp4',
};
