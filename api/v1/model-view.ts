// Presents a model of the catalogue as JSON.
import { METERS } from '../../domain/catalog/catalog.ts';
import type { UsualSeconds } from '../../db/tasks/usual-times.ts';
import type { Model } from '../../domain/catalog/catalog.ts';
import { toCredits } from '../../domain/credits.ts';
import type { ModelView } from '../shapes/models.ts';

/** `times` are the usual seconds of tasks by model id. */
export function presentModel(model: Model, times: ReadonlyMap<string, UsualSeconds>): ModelView {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.family,
    kind: model.kind,
    family: model.family,
    billing_mode: model.billingMode,
    limits: model.limits,
    defaults: model.defaults,
    price: model.price.map(({ item, meter, credits, free, when }) => ({
      item,
      unit: METERS[meter],
      credits: toCredits(credits),
      free,
      when,
    })),
    usual_seconds: times.get(model.id) ?? null,
  };
}
