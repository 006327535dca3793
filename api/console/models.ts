// GET /api/models: lists all models for a session, with the time that their tasks usually take.
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { presentModel } from '../v1/model-view.ts';

export async function listAllModels({ services }: RequestContext<SessionCaller>): Promise<Reply> {
  const models = [...services.catalog.models.values()];
  const times = await services.usualTimes.read(models.map(({ id }) => id));
  const data = models.map((model) => ({
    ...presentModel(model),
    usual_seconds: times.get(model.id) ?? null,
  }));
  return { status: 200, body: { object: 'list', data } };
}
