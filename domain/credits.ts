// Credits as integers of micro-credits: the only place that converts them to JSON numbers and from decimals.

/** An amount of money: 1 credit = 1,000,000 micro-credits; 1 USD = 200 credits. Always an integer. */
export type MicroCredits = bigint;

export const MICRO_CREDITS_PER_CREDIT = 1_000_000n;
export const CREDITS_PER_USD = 200;
/**
 * The highest balance a grant may lead to: up to 2^33 credits, a JSON number shows every amount exactly. A
 * refund may come on top of it.
 */
export const BALANCE_MAX = 8_500_000_000n * MICRO_CREDITS_PER_CREDIT;

/**
 * Reads a decimal amount of credits ("4", "0.5", 12.25) exactly.
 * Throws a RangeError when it is not a plain non-negative decimal with at most 6 decimals.
 */
export function parseCredits(credits: string | number): MicroCredits {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(String(credits));
  if (!match) throw new RangeError(`not an amount of credits: ${String(credits).slice(0, 40)}`);
  return BigInt(match[1] ?? '0') * MICRO_CREDITS_PER_CREDIT + BigInt((match[2] ?? '').padEnd(6, '0'));
}

/**
 * Converts an amount to a JSON number of credits with at most 6 decimals: the double nearest to it for every
 * amount up to 2^33 credits, which JSON prints exactly.
 */
export function toCredits(amount: MicroCredits): number {
  return Number(amount) / Number(MICRO_CREDITS_PER_CREDIT);
}

/** Converts an amount to a JSON number of US dollars with at most 6 decimals, never rounded up. */
export function toUsd(amount: MicroCredits): number {
  return toCredits(amount / BigInt(CREDITS_PER_USD));
}

/** Divides and rounds up to an integer. The numerator must not be negative. */
export function divideRoundingUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
