// Lists and reads models within the key's scope, in OpenAI's format: GET /v1/models and GET /v1/models/:id.
import type { Model } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';
import { presentModel } from './model-view.ts';

export async function listModels(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const times = await ctx.services.usualTimes.read();
  const data = visibleModels(ctx).map((model) => presentModel(model, times));
  return { status: 200, body: { object: 'list', data } };
}

export async function readModel(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const model = visibleModels(ctx).find(({ id }) => id === ctx.params['id']);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  return { status: 200, body: presentModel(model, await ctx.services.usualTimes.read()) };
}

function visibleModels({ services, caller }: RequestContext<KeyCaller>): Model[] {
  const scope = caller.key.modelScope;
  return [...services.catalog.models.values()].filter(({ id }) => !scope || scope.includes(id));
}
