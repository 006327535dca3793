// How long the answers of an order of text may be for the credits that were set aside for it.
import type { MicroCredits } from '../credits.ts';
import { quote, type PriceSnapshot } from '../pricing.ts';
import type { Order } from './order.ts';
import type { AnswerBounds } from './text.ts';

/** The highest possible cost of the order's longest answers. */
export function quoteLongest(price: PriceSnapshot, order: Order, bounds: AnswerBounds): MicroCredits {
  return quote(price, longest(order, bounds)).total;
}

/**
 * The order with the longest answers that `amount` covers, which has to be that of the shortest ones at
 * least. An answer without a limit of the caller gets one, unless the amount covers all that the model can
 * answer.
 */
export function fitAnswers(
  price: PriceSnapshot,
  order: Order,
  bounds: AnswerBounds,
  amount: MicroCredits,
): Order {
  const whole = longest(order, bounds);
  if (amount >= quote(price, whole).total) return whole;
  let { least, most } = bounds;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    const { total } = quote(price, { ...order, outputTokens: middle * bounds.answers });
    if (total <= amount) least = middle;
    else most = middle - 1;
  }
  return { ...order, outputTokens: least * bounds.answers };
}

function longest(order: Order, { most, isKept, answers }: AnswerBounds): Order {
  const answerLimitedBy = isKept ? 'model' : order.answerLimitedBy;
  return { ...order, outputTokens: most * answers, answerLimitedBy };
}
