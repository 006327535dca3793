// From a price list and an order to an estimate, and from evidence to a charge that never exceeds it.
import type { BillingMode, Meter, Model, PriceLine } from './catalog/catalog.ts';
import { divideRoundingUp, type MicroCredits } from './credits.ts';
import type { Order } from './orders/order.ts';

/** The prices a task was accepted with, stored with the task: a later price list does not change them. */
export interface PriceSnapshot {
  billingMode: BillingMode;
  lines: PriceLine[];
}

export interface QuoteLine {
  item: string;
  meter: Meter;
  quantity: number;
  /** The price of the whole line. */
  amount: MicroCredits;
}

/** The most a task can cost. */
export interface Quote {
  total: MicroCredits;
  lines: QuoteLine[];
}

/**
 * What an upstream says it delivered. Every figure is optional, because vendors leave them out or send
 * nonsense: adapters pass on only finite numbers that are not negative.
 */
export interface Evidence {
  images?: number;
  seconds?: number;
  inputVideoSeconds?: number;
  /** Tokens of a video, as the vendor counts them. */
  tokens?: number;
  /** Tokens of a text. Cached and newly cached ones are included in those of the prompt. */
  promptTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  completionTokens?: number;
  /** What the vendor bills us, in micro-credits (200 credits per USD). */
  vendorCost?: MicroCredits;
}

export interface Charge {
  amount: MicroCredits;
  /** What the task cost beyond the charge. The operator bears it, never the user. */
  loss: MicroCredits;
}

/** A reported cost of more than so many times the estimate is nonsense and counts as not reported. */
const VENDOR_COST_PLAUSIBLE_FACTOR = 1000n;

export function snapshotPrice(model: Model): PriceSnapshot {
  return { billingMode: model.billingMode, lines: model.price };
}

/** Computes the estimate: every price line that matches the order, times what was ordered. */
export function quote(price: PriceSnapshot, order: Order): Quote {
  const quantities = orderedQuantities(order);
  const lines = atHighestPrice(matchingLines(price, order, order.promptTokens))
    .map((line) => ({ line, quantity: billable(line, quantities) }))
    .filter(({ quantity }) => quantity > 0);
  return {
    total: priceOf(lines),
    lines: lines.map(({ line, quantity }) => {
      return { item: line.item, meter: line.meter, quantity, amount: priceOf([{ line, quantity }]) };
    }),
  };
}

/**
 * Computes the charge: every price line that matches the order, times what was delivered, at most the
 * estimate, which callers pass who have quoted the order already.
 */
export function computeCharge(
  price: PriceSnapshot,
  order: Order,
  evidence: Evidence,
  estimate: MicroCredits = quote(price, order).total,
): Charge {
  const delivered = priceOf(deliveredLines(price, order, evidence));
  const amount = smaller(delivered, estimate);
  const cost = larger(delivered, plausibleCost(evidence, estimate));
  return { amount, loss: cost - amount };
}

function deliveredLines(price: PriceSnapshot, order: Order, evidence: Evidence) {
  const quantities = { ...orderedQuantities(order) };
  if (evidence.images !== undefined) quantities.images = evidence.images;
  if (evidence.seconds !== undefined) quantities.seconds = evidence.seconds;
  if (evidence.inputVideoSeconds !== undefined) quantities.input_video_seconds = evidence.inputVideoSeconds;
  if (evidence.tokens !== undefined) quantities.video_tokens = evidence.tokens / 1_000_000;
  const matching = matchingLines(price, order, evidence.promptTokens ?? order.promptTokens);
  Object.assign(quantities, deliveredTokens(matching, evidence));
  return matching.map((line) => ({ line, quantity: billable(line, quantities) }));
}

/**
 * The lines of a charge, which sum up to it exactly: what was delivered at its price, and where that exceeds
 * the estimate, what is not charged.
 */
export function chargeLines(price: PriceSnapshot, order: Order, evidence: Evidence): QuoteLine[] {
  const lines = deliveredLines(price, order, evidence)
    .filter(({ quantity }) => quantity > 0)
    .map(({ line, quantity }) => {
      return { item: line.item, quantity, amount: priceOf([{ line, quantity }]), meter: line.meter };
    });
  const { amount } = computeCharge(price, order, evidence);
  const difference = amount - lines.reduce((sum, line) => sum + line.amount, 0n);
  const last = lines.at(-1);
  // Each line is rounded up, the charge once.
  if (last && difference < 0n && -difference <= BigInt(lines.length)) last.amount += difference;
  else if (difference !== 0n)
    lines.push({ item: 'Beyond the estimate, not charged', meter: 'tasks', quantity: 1, amount: difference });
  return lines;
}

/**
 * Computes what work that was not delivered cost, as far as the vendor reports it and the figure is
 * plausible.
 */
export function computeLoss(price: PriceSnapshot, order: Order, evidence: Evidence): MicroCredits {
  return plausibleCost(evidence, quote(price, order).total);
}

function orderedQuantities(order: Order): Record<Meter, number> {
  return {
    tasks: 1,
    images: order.images,
    seconds: order.seconds,
    input_images: order.inputImages,
    input_video_seconds: order.inputVideoSeconds,
    video_tokens: order.videoTokens / 1_000_000,
    input_tokens: order.promptTokens / 1_000_000,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: order.outputTokens / 1_000_000,
  };
}

/**
 * Cached parts of a prompt have prices of their own; a part without one costs what the uncached prompt costs.
 */
function deliveredTokens(lines: readonly PriceLine[], evidence: Evidence): Partial<Record<Meter, number>> {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = evidence;
  const isPriced = (meter: Meter): boolean => lines.some((line) => line.meter === meter);
  const cached = isPriced('cached_input_tokens') ? cachedTokens : 0;
  const written = isPriced('cache_write_tokens') ? cacheWriteTokens : 0;
  return {
    ...(promptTokens !== undefined && {
      input_tokens: Math.max(0, promptTokens - cached - written) / 1_000_000,
      cached_input_tokens: Math.min(cached, promptTokens) / 1_000_000,
      cache_write_tokens: Math.min(written, Math.max(0, promptTokens - cached)) / 1_000_000,
    }),
    ...(completionTokens !== undefined && { output_tokens: completionTokens / 1_000_000 }),
  };
}

/** Prices every token of a prompt as the most expensive kind that it may turn out to be. */
function atHighestPrice(lines: readonly PriceLine[]): PriceLine[] {
  const highest = lines
    .filter(({ meter }) => meter === 'cache_write_tokens')
    .reduce((most, { credits }) => larger(most, credits), 0n);
  return lines.map((line) =>
    line.meter === 'input_tokens' ? { ...line, credits: larger(line.credits, highest) } : line,
  );
}

function billable(line: PriceLine, quantities: Record<Meter, number>): number {
  return Math.max(0, quantities[line.meter] - line.free);
}

function matchingLines(price: PriceSnapshot, order: Order, promptTokens: number): PriceLine[] {
  return price.lines.filter(({ when }) => {
    return (
      (when.resolution === undefined || when.resolution === order.resolution) &&
      (when.audio === undefined || when.audio === order.audio) &&
      (when.duration === undefined || when.duration === order.seconds) &&
      (when.imageRole === undefined || when.imageRole === order.imageRole) &&
      (when.inputVideo === undefined || when.inputVideo === order.inputVideos > 0) &&
      (when.promptTokensMax === undefined || promptTokens <= when.promptTokensMax) &&
      (when.promptTokensAbove === undefined || promptTokens > when.promptTokensAbove)
    );
  });
}

/**
 * Sums first, then rounds up once. Quantities are counted in millionths, so that 9.9 seconds cost 9.9 prices.
 */
function priceOf(lines: { line: PriceLine; quantity: number }[]): MicroCredits {
  const sum = lines.reduce((total, { line, quantity }) => total + line.credits * toMillionths(quantity), 0n);
  return divideRoundingUp(sum, 1_000_000n);
}

function toMillionths(quantity: number): bigint {
  const millionths = quantity * 1_000_000;
  // Most quantities are whole; the others lose what binary fractions add, such as 9.9 × 1,000,000.
  return BigInt(Number.isInteger(millionths) ? millionths : Math.ceil(Number(millionths.toFixed(3))));
}

function plausibleCost(evidence: Evidence, estimate: MicroCredits): MicroCredits {
  const cost = evidence.vendorCost ?? 0n;
  return cost > estimate * VENDOR_COST_PLAUSIBLE_FACTOR ? 0n : cost;
}

function smaller(one: MicroCredits, other: MicroCredits): MicroCredits {
  return one < other ? one : other;
}

function larger(one: MicroCredits, other: MicroCredits): MicroCredits {
  return one > other ? one : other;
}
