// Renews the lease of a running chat call, so that the sweeper settles only calls whose process has died.
import { RENEWALS_PER_LEASE } from '../../domain/chat-calls.ts';

/** The first renewal comes early, because it also records what was delivered, and most calls end soon. */
const FIRST_RENEWAL_MS = 5_000;

export interface LeaseRenewalOptions {
  leaseSeconds: number;
  /** False: the call is settled, because its lease was over. */
  renew: () => Promise<boolean>;
  /** Called when a renewal failed; the next one follows at its usual time. */
  onFailure: (error: unknown) => void;
  /** Called when `renew` answered false; no other renewal follows. */
  onLoss: () => void;
}

/**
 * Calls `renew` periodically until the returned function is called; a renewal under way then is the last
 * one.
 */
export function startLeaseRenewal({
  leaseSeconds,
  renew,
  onFailure,
  onLoss,
}: LeaseRenewalOptions): () => void {
  const everyMs = (leaseSeconds * 1000) / RENEWALS_PER_LEASE;
  let isStopped = false;
  const renewal = async (): Promise<void> => {
    const isRenewed = await renew().catch(onFailure);
    if (isRenewed === false) {
      if (!isStopped) onLoss();
      isStopped = true;
    }
    if (!isStopped) timer = setTimeout(() => void renewal(), everyMs);
  };
  let timer = setTimeout(() => void renewal(), Math.min(FIRST_RENEWAL_MS, everyMs));
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
