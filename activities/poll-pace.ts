// How long to wait before a vendor is asked about a job again.
import type { UsualDuration } from './job-durations.ts';

export interface Polled {
  /** Since the job was handed over. */
  ageMs: number;
  /** Looks in a row, up to this one, that the vendor refused because it is asked too often. */
  refusals: number;
  /** How long the vendor asks to wait, or null. */
  retryAfterMs: number | null;
  /** How long jobs of its model usually take; null where that is not known. */
  usualDuration: UsualDuration | null;
}

const PAUSE_MIN_MS = 1_000;
/** Vendors recommend 5 to 20 s; a finished video is noticed after four on average. */
const PAUSE_MAX_MS = 8_000;
/** For jobs that most probably do not end soon. */
const EARLY_PAUSE_MAX_MS = 12_000;
/** While jobs usually end. */
const LATE_PAUSE_MIN_MS = 2_000;
/**
 * Looks while jobs usually end: where their times differ much, they are looked at as if nothing was known.
 */
const LATE_LOOKS = 5;
const REFUSED_PAUSE_MAX_MS = 60_000;
const AGE_SHARE = 0.1;
/** Jobs handed over at once are not asked for at once. */
const SPREAD = 0.2;

/**
 * A tenth of the job's age, so that a result comes at most a tenth late, between one and eight seconds; up to
 * twelve before jobs of its model usually end, and less while they do, so that all in all a vendor is asked
 * as often; longer for a vendor that refuses looks. `random` is in [0, 1).
 */
export function pauseBeforeNextPoll({ refusals, retryAfterMs, ...job }: Polled, random: number): number {
  const usualMs = usualPauseMs(job);
  const wantedMs = Math.max(usualMs * 2 ** refusals, retryAfterMs ?? 0);
  const pauseMs = refusals === 0 ? usualMs : Math.min(wantedMs, REFUSED_PAUSE_MAX_MS);
  return pauseMs * (1 - SPREAD / 2 + random * SPREAD);
}

function usualPauseMs({ ageMs, usualDuration }: Pick<Polled, 'ageMs' | 'usualDuration'>): number {
  const byAgeMs = Math.max(ageMs * AGE_SHARE, PAUSE_MIN_MS);
  const unknownMs = Math.min(byAgeMs, PAUSE_MAX_MS);
  if (usualDuration === null || ageMs > usualDuration.untilMs) return unknownMs;
  const { fromMs, untilMs } = usualDuration;
  const lateMs = Math.min(Math.max((untilMs - fromMs) / LATE_LOOKS, LATE_PAUSE_MIN_MS), unknownMs);
  if (ageMs >= fromMs) return lateMs;
  return Math.min(byAgeMs, EARLY_PAUSE_MAX_MS, Math.max(fromMs - ageMs, lateMs));
}
