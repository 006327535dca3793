// What the input images of an order are for, in the roles that several vendors share.
import type { Order } from '../domain/orders/order.ts';

/** The frame for which the input image at `index` stands, or null for a reference. */
export function frameRole({ imageRole }: Order, index: number): 'first_frame' | 'last_frame' | null {
  if (imageRole === 'references') return null;
  return (['first_frame', 'last_frame'] as const)[index] ?? null;
}

/** Whether the video begins with an input image, which then decides its ratio. */
export function beginsWithFrame({ imageRole }: Order): boolean {
  return imageRole === 'first_frame' || imageRole === 'first_and_last_frame';
}
