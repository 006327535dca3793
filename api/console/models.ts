// GET /api/models: lists all models for a session.
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { presentModel } from '../v1/model-view.ts';
import { readUsualTimes } from '../v1/models.ts';

export async function listAllModels(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const times = await readUsualTimes(ctx);
  const data = [...ctx.services.catalog.models.values()].map((model) => presentModel(model, times));
  return { status: 200, body: { object: 'list', data } };
}
