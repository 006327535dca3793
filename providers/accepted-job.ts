// What adapters make of the vendor's answer to a submission.
import { UpstreamFailure, type Submission, type UpstreamJob } from './provider.ts';

/**
 * The submission of a job that the vendor names `id`; `details` go into its handle. Throws
 * `invalid_response`, `unknown` when the answer holds no id: the vendor may have taken the work all the same.
 */
export function acceptedJob(
  { credential }: UpstreamJob,
  id: string | null,
  upstreamRequestId: string | null,
  details: Readonly<Record<string, string>> = {},
): Submission {
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { kind: 'accepted', handle: { id, credential, ...details }, upstreamRequestId };
}
