// Asking a vendor to stop a job.
import { withTimeLimit } from '../providers/http/time-limit.ts';
import { UpstreamFailure, type Cancellation, type Provider } from '../providers/provider.ts';
import type { JobHandle } from '../domain/jobs.ts';

/** Shorter than a usual look, because the caller waits for the cancellation. */
export const WITHDRAW_LOOK_LIMIT_MS = 5_000;

/** `too_late` also where the vendor cannot cancel, refuses to, or does not answer in time. */
export async function cancelJob({
  provider,
  handle,
}: {
  provider: Pick<Provider, 'cancel'>;
  handle: JobHandle;
}): Promise<Cancellation> {
  const cancel = async (limit: AbortSignal) => provider.cancel?.(handle, limit);
  try {
    return (await withTimeLimit(WITHDRAW_LOOK_LIMIT_MS, undefined, cancel)) ?? 'too_late';
  } catch (error) {
    if (error instanceof UpstreamFailure) return 'too_late';
    throw error;
  }
}
