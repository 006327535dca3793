// The shapes of JSON columns. Amounts stand in them as strings: JSON has no integers of that size.
import type { PriceLine } from '../domain/catalog/catalog.ts';
import type { MicroCredits } from '../domain/credits.ts';
import type { JobHandle } from '../domain/jobs.ts';
import type { Evidence, PriceSnapshot } from '../domain/pricing.ts';

export interface StoredPrice {
  billingMode: PriceSnapshot['billingMode'];
  lines: (Omit<PriceLine, 'credits'> & { credits: string })[];
}

export interface StoredEvidence {
  images?: number;
  seconds?: number;
  inputVideoSeconds?: number;
  tokens?: number;
  promptTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  completionTokens?: number;
  vendorCost?: string;
}

export type StoredHandle = JobHandle;

/** One result in our storage. */
export interface TaskOutput {
  /** Key in the storage; reveals nothing but the task's id. */
  key: string;
  contentType: string;
  bytes: number;
  /** Key of a small preview; absent where none could be made. */
  previewKey?: string;
}

export function storePrice(price: PriceSnapshot): StoredPrice {
  return { ...price, lines: price.lines.map((line) => ({ ...line, credits: line.credits.toString() })) };
}

export function readPrice(stored: StoredPrice): PriceSnapshot {
  return {
    ...stored,
    lines: stored.lines.map((line) => ({ ...line, credits: readMicroCredits(line.credits) })),
  };
}

export function storeEvidence(evidence: Evidence): StoredEvidence {
  const { vendorCost, ...figures } = evidence;
  return vendorCost === undefined ? figures : { ...figures, vendorCost: vendorCost.toString() };
}

export function readEvidence(stored: StoredEvidence | null): Evidence {
  const { vendorCost, ...figures } = stored ?? {};
  return vendorCost === undefined ? figures : { ...figures, vendorCost: BigInt(vendorCost) };
}

/**
 * Reads a bigint column, which raw statements give as a string. The one place where columns become amounts.
 */
export function readMicroCredits(column: string | number | bigint): MicroCredits {
  return BigInt(column);
}
