// Looking up a job whose submission was not answered, at vendors that allow it.
import { forkEm } from '../db/database.ts';
import * as submissions from '../db/tasks/submissions.ts';
import { withTimeLimit } from '../providers/http/time-limit.ts';
import { UpstreamFailure, type LookUp, type Provider } from '../providers/provider.ts';
import type { HandOverTry } from './accepted-job.ts';
import { retryWrite } from './activity-retry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { retryLater } from './failures.ts';
import { pause } from './heartbeat.ts';
import {
  recordAnswer,
  recordRefusal,
  type FailedSubmission,
  type HandOverState,
} from './submission-outcome.ts';

export interface LostSubmission extends FailedSubmission {
  sentAt: Date;
}

/** A vendor’s list may lag behind what it took. */
const LOOK_UPS_MAX = 4;
const LOOK_UP_PAUSE_MS = 1_500;
const LOOK_UP_LIMIT_MS = 10_000;

/**
 * For a submission that may have reached the vendor: it is never handed over again blindly. Found, the job is
 * taken up; surely absent, another try is allowed; else the attempt ends with `upstream_outcome_unknown`.
 */
export async function lookForLostJob(
  dependencies: ActivityDependencies,
  handOverTry: HandOverTry,
  lost: LostSubmission,
): Promise<HandOverState> {
  const { task, provider } = handOverTry;
  for (let count = 0; provider.lookUp && count < LOOK_UPS_MAX; count += 1) {
    if (count > 0) await pause(LOOK_UP_PAUSE_MS);
    const found = await lookUp(provider, lost);
    if (found.kind === 'found') {
      const answer = { kind: 'accepted', handle: found.handle, upstreamRequestId: null } as const;
      return recordAnswer(dependencies, handOverTry, answer);
    }
    if (found.kind === 'absent') {
      await retryWrite(() => submissions.recordNotReceived(forkEm(dependencies.database), task, null));
      throw retryLater('upstream_error');
    }
  }
  throw await recordRefusal(dependencies, handOverTry, lost);
}

async function lookUp(provider: Provider, { job, sentAt }: LostSubmission): Promise<LookUp> {
  try {
    const ask = async (limit: AbortSignal) => provider.lookUp?.(job, sentAt, limit);
    return (await withTimeLimit(LOOK_UP_LIMIT_MS, undefined, ask)) ?? { kind: 'unclear' };
  } catch (error) {
    if (error instanceof UpstreamFailure) return { kind: 'unclear' };
    throw error;
  }
}
