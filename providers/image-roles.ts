// What the input images of an order are for, in the roles that several vendors share.
import type { Order } from '../domain/orders/order.ts';

/** The frame for which the input image at `index` stands, or null for a reference. */
export function frameRole({ imageRole }: Order, index: number): 'first_frame' | 'last_frame' | null {
  switch (imageRole) {
    case 'references':
      return null;
    case 'last_frame':
      return 'last_frame';
    case 'first_frame_and_references':
      return index === 0 ? 'first_frame' : null;
    default:
      return (['first_frame', 'last_frame'] as const)[index] ?? null;
  }
}

/** Whether the video begins with an input image, which then decides its ratio. */
export function beginsWithFrame({ imageRole }: Order): boolean {
  return imageRole.startsWith('first_');
}

/** Whether an input image is a frame of the video, at its beginning or its end. */
export function hasFrame({ imageRole }: Order): boolean {
  return imageRole !== 'none' && imageRole !== 'references';
}
