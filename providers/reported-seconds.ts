// Lengths of videos as vendors report them: what cannot be true must not decide a charge.
import { numberOf } from './http/json-fields.ts';

/**
 * The longest video on offer has 30 seconds, the longest input a few minutes; a figure beyond this is
 * nonsense.
 */
export const SECONDS_PLAUSIBLE_MAX = 600;

/** A length in seconds, zero included; null for what is no number, negative or absurdly long. */
export function readSeconds(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? seconds : null;
}

/** The length of a finished video, as `readSeconds` but null for zero: no video has no length at all. */
export function readVideoSeconds(value: unknown): number | null {
  return readSeconds(value) || null;
}
