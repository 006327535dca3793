// Estimates the cost of a task. Nothing is created or reserved.
import type { RequestContext, KeyCaller, Reply, SessionCaller } from '../context.ts';
import { priceRequest } from './price-request.ts';
import { readModeRequest } from './task-requests.ts';
import { presentEstimate } from './views.ts';

export async function readEstimate(ctx: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const unknownFields = ctx.caller.proof === 'session' ? 'refused' : 'ignored';
  const priced = await priceRequest(ctx, readModeRequest(ctx.body, unknownFields));
  return { status: 200, body: { data: presentEstimate(priced) } };
}
