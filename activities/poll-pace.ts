// How long to wait before a vendor is asked about a job again.

export interface Polled {
  /** Since the job was handed over. */
  ageMs: number;
  /** Looks in a row, up to this one, that the vendor refused because it is asked too often. */
  refusals: number;
  /** How long the vendor asks to wait, or null. */
  retryAfterMs: number | null;
}

const PAUSE_MIN_MS = 1_000;
/** Vendors recommend 5 to 20 s; a finished video is noticed after four on average. */
const PAUSE_MAX_MS = 8_000;
const REFUSED_PAUSE_MAX_MS = 60_000;
const AGE_SHARE = 0.1;
/** Jobs handed over at once are not asked for at once. */
const SPREAD = 0.2;

/**
 * A tenth of the job's age, so that a result comes at most a tenth late, between one and eight seconds;
 * longer for a vendor that refuses looks. It depends on nothing that ends with the process. `random` is in
 * [0, 1).
 */
export function pauseBeforeNextPoll({ ageMs, refusals, retryAfterMs }: Polled, random: number): number {
  const usualMs = Math.min(Math.max(ageMs * AGE_SHARE, PAUSE_MIN_MS), PAUSE_MAX_MS);
  const wantedMs = Math.max(usualMs * 2 ** refusals, retryAfterMs ?? 0);
  const pauseMs = refusals === 0 ? usualMs : Math.min(wantedMs, REFUSED_PAUSE_MAX_MS);
  return pauseMs * (1 - SPREAD / 2 + random * SPREAD);
}
