// GET /v1/models and GET /v1/models/:id: OpenAI's list and object, as far as the key's scope reaches.
import type { Model } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Call, KeyCaller, Reply } from '../context.ts';
import { presentModel } from './model-view.ts';

export async function listModels(call: Call<KeyCaller>): Promise<Reply> {
  return { status: 200, body: { object: 'list', data: visibleModels(call).map(presentModel) } };
}

export async function readModel(call: Call<KeyCaller>): Promise<Reply> {
  const model = visibleModels(call).find(({ id }) => id === call.params['id']);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  return { status: 200, body: presentModel(model) };
}

function visibleModels({ gateway, caller }: Call<KeyCaller>): Model[] {
  const scope = caller.key.modelScope;
  return [...gateway.catalog.models.values()].filter(({ id }) => !scope || scope.includes(id));
}
