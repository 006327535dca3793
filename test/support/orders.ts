// Orders as the domain knows them, for tests of code behind the reading of requests.
import type { Order } from '../../domain/orders/order.ts';

/** An order of an empty video, with these changes. */
export function orderOf(changes: Partial<Order>): Order {
  return {
    mode: 'video',
    images: 0,
    seconds: 0,
    resolution: null,
    ratio: null,
    audio: null,
    inputImages: 0,
    imageRole: 'none',
    inputVideos: 0,
    inputVideoSeconds: 0,
    videoTokens: 0,
    promptTokens: 0,
    outputTokens: 0,
    answerLimitedBy: null,
    responseFormat: 'url',
    seed: null,
    quality: null,
    watermark: null,
    promptExtension: null,
    ...changes,
  };
}
