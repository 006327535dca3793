// One row of the golden prices: what an order of a model costs at the most.
import type { Order } from '../../../domain/orders/order.ts';

export interface PricingRow {
  /** The id of the model in the catalogue. */
  model: string;
  /** The fields of the order that are set; all others are empty. */
  order: Partial<Order>;
  /** The estimate in credits, with at most six decimals. */
  credits: string;
}
