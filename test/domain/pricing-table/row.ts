// One row of the golden prices: what an order of a model costs at the most.
import type { Order } from '../../../domain/orders/order.ts';

export interface PricingRow {
  /** Id in the catalogue. */
  model: string;
  /** What differs from an order of nothing. */
  order: Partial<Order>;
  /** The estimate, with at most six decimals. */
  credits: string;
}
