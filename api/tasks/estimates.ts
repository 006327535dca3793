// Estimates the cost of a task. Nothing is created or reserved.
import { quote } from '../../domain/pricing.ts';
import type { RequestContext, KeyCaller, Reply, SessionCaller } from '../context.ts';
import { fitToCredits, spenderOf } from './answer-length.ts';
import { priceRequest } from './price-request.ts';
import { readModeRequest } from './task-requests.ts';
import { presentEstimate } from './views.ts';

export async function readEstimate(ctx: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const unknownFields = ctx.caller.proof === 'session' ? 'refused' : 'ignored';
  const request = await ctx.workOnBody(() => readModeRequest(ctx.body, unknownFields));
  const priced = await priceRequest(ctx, request);
  const { order, price, answer } = priced;
  const task = { ordered: order, price, creditsEstimate: priced.quote.total };
  const { ordered } = await fitToCredits(ctx.em, spenderOf(ctx.caller), task, answer);
  return { status: 200, body: { data: presentEstimate({ ...priced, quote: quote(price, ordered) }) } };
}
