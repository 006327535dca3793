// Turns a request for a task into a priced order: the model looked up, the values resolved, nothing
// written.
import type { Model } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { checkInputImages } from '../../domain/files/input-images.ts';
import type { Order, OrderInput } from '../../domain/orders/order.ts';
import { wrongKind } from '../../domain/orders/refusals.ts';
import { resolveOrder } from '../../domain/orders/resolve-order.ts';
import { boundsOfOrder, type AnswerBounds } from '../../domain/orders/text.ts';
import { quote, snapshotPrice, type PriceSnapshot, type Quote } from '../../domain/pricing.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';
import { checkImagesFor, type SentImage } from '../uploads/input-images.ts';
import { readInputVideos, type InputVideos } from '../uploads/input-videos.ts';

/** A request for a task, read from a body. */
export interface TaskRequest {
  /** Id of a model, not looked up yet. */
  model: string;
  input: OrderInput;
  /** Input images, or the images in the messages of a text task; `priceRequest` looks at their files. */
  images: readonly SentImage[];
}

export interface PricedOrder {
  model: Model;
  /** Of a text: with the shortest answer that credits must cover. */
  order: Order;
  /** How long the answer of a text may be; null for images and videos. */
  answer: AnswerBounds | null;
  /**
   * The price that `quote` was computed from. A task stores this same snapshot, so that order and row
   * cannot differ.
   */
  price: PriceSnapshot;
  quote: Quote;
  inputVideos: InputVideos;
}

/**
 * Resolves and prices a request. Throws a GatewayError when the key may not use the model, or the model
 * does not offer what is asked for.
 */
export async function priceRequest(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  { model: modelId, input, images }: TaskRequest,
): Promise<PricedOrder> {
  const model = ctx.services.catalog.models.get(modelId);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  if (model.kind !== input.mode) throw wrongKind(model, input.mode);
  const scope = ctx.caller.proof === 'key' ? ctx.caller.key.modelScope : null;
  if (scope && !scope.includes(model.id)) throw new GatewayError('model_not_allowed', { param: 'model' });
  const order = resolveOrder(model, input);
  const media = input.mode === 'text' ? null : input;
  if (media) checkInputImages(media.inputImages, media.names.inputImages);
  await checkImagesFor(model, images);
  const inputVideos = await readInputVideos(ctx, media?.inputVideos ?? []);
  const price = snapshotPrice(model);
  return {
    model,
    order,
    answer: boundsOfOrder(model, order),
    price,
    quote: quote(price, order),
    inputVideos,
  };
}
