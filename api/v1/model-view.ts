// Presents a model of the catalogue as JSON.
import { METERS } from '../../domain/catalog/catalog.ts';
import type { Model } from '../../domain/catalog/catalog.ts';
import { toCredits } from '../../domain/credits.ts';
import type { ModelView } from '../shapes/models.ts';

export function presentModel(model: Model): ModelView {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.family,
    kind: model.kind,
    family: model.family,
    billing_mode: model.billingMode,
    limits: model.limits,
    price: model.price.map(({ item, meter, credits }) => ({
      item,
      unit: METERS[meter],
      credits: toCredits(credits),
    })),
  };
}
