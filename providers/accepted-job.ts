// What adapters make of the vendor's answer to a submission: the one place where ids of jobs enter.
import { textOf } from './http/json-fields.ts';
import { UpstreamFailure, type Submission, type UpstreamJob } from './provider.ts';

/** The index of jobs takes 2,704 bytes, family and credential included; vendors’ ids have some hundred. */
const JOB_ID_BYTES_MAX = 2_000;

/**
 * A vendor's id of a job; null where it is none, and where it cannot be stored: too long, or with NUL or half
 * a character in it, without which it would be the id of another job.
 */
export function jobIdOf(value: unknown): string | null {
  const id = textOf(value);
  return id !== null && id === value && Buffer.byteLength(id) <= JOB_ID_BYTES_MAX ? id : null;
}

/**
 * The submission of a job that the vendor names `id`; `details` go into its handle. Throws
 * `invalid_response`, `unknown` when that is no id to ask about the job with (`jobIdOf`): the vendor may have
 * taken the work all the same.
 */
export function acceptedJob(
  { credential }: UpstreamJob,
  id: unknown,
  upstreamRequestId: string | null,
  details: Readonly<Record<string, string>> = {},
): Submission {
  const jobId = jobIdOf(id);
  if (jobId === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { kind: 'accepted', handle: { id: jobId, credential, ...details }, upstreamRequestId };
}
