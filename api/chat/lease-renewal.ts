// Renews the lease of a running chat call, so that the sweeper settles only calls whose process has died.

/** The first renewal comes early, because it also records what was delivered, and most calls end soon. */
const FIRST_RENEWAL_MS = 5_000;
const RENEWALS_PER_LEASE = 3;

export interface LeaseRenewalOptions {
  leaseSeconds: number;
  renew: () => Promise<void>;
  /** Called when a renewal failed; the next one follows at its usual time. */
  onFailure: (error: unknown) => void;
}

/**
 * Calls `renew` periodically until the returned function is called; a renewal under way then is the last
 * one.
 */
export function startLeaseRenewal({ leaseSeconds, renew, onFailure }: LeaseRenewalOptions): () => void {
  const everyMs = (leaseSeconds * 1000) / RENEWALS_PER_LEASE;
  let isStopped = false;
  const renewal = async (): Promise<void> => {
    await renew().catch(onFailure);
    if (!isStopped) timer = setTimeout(() => void renewal(), everyMs);
  };
  let timer = setTimeout(() => void renewal(), Math.min(FIRST_RENEWAL_MS, everyMs));
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
