// The cheapest order that each model takes, for a first call with a real key.
import type { Model } from '../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { Order, OrderInput } from '../../domain/orders/order.ts';
import { resolveOrder } from '../../domain/orders/resolve-order.ts';
import { quote, snapshotPrice } from '../../domain/pricing.ts';

export interface CheapestOrder {
  model: Model;
  order: Order;
  /** The most that it costs at the vendor, as the catalogue has it. */
  price: MicroCredits;
}

const PROMPT_TOKENS = 30;
const ANSWER_TOKENS = 64;
const NAMES = { ratio: 'size', resolution: 'resolution', audio: 'audio', inputImages: 'image_urls' };
/** Only their number counts here. */
const IMAGE = 'https://media.example.com/1.png';

/** Throws an Error for a model that takes no order at all. */
export function cheapestOrder(model: Model): CheapestOrder {
  const price = snapshotPrice(model);
  const orders = inputsOf(model)
    .flatMap((input) => orderOf(model, input))
    .map((order) => ({ model, order, price: quote(price, order).total }));
  const [first, ...others] = orders;
  if (!first) throw new Error(`${model.id} takes no order`);
  return others.reduce((least, other) => (other.price < least.price ? other : least), first);
}

/** Every resolution, with sound and without, as short as can be, and with no more images than needed. */
function inputsOf({ kind, limits }: Model): OrderInput[] {
  if (kind === 'text') {
    const names = { outputTokens: 'max_tokens' };
    const tokens = { promptTokens: PROMPT_TOKENS, outputTokens: ANSWER_TOKENS };
    return [{ mode: 'text', prompt: 'x', ...tokens, answers: 1, names }];
  }
  const { durations, resolutions = [undefined], audio = [undefined], inputImagesMin = 0 } = limits;
  const shortest = durations && ('values' in durations ? Math.min(...durations.values) : durations.min);
  const inputImages = Array.from({ length: inputImagesMin }, () => IMAGE);
  return resolutions.flatMap((resolution) =>
    audio.map((isOn) => {
      const chosen = { resolution, audio: isOn, duration: shortest, inputImages };
      return { mode: kind, prompt: 'x', names: NAMES, ...chosen };
    }),
  );
}

/** Empty where the catalogue refuses the combination. */
function orderOf(model: Model, input: OrderInput): Order[] {
  try {
    return [resolveOrder(model, input)];
  } catch {
    return [];
  }
}
