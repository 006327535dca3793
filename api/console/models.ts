// GET /api/models: lists all models for a session.
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { presentModel } from '../v1/model-view.ts';

export async function listAllModels({ services }: RequestContext<SessionCaller>): Promise<Reply> {
  const times = await services.usualTimes.read();
  const data = [...services.catalog.models.values()].map((model) => presentModel(model, times));
  return { status: 200, body: { object: 'list', data } };
}
