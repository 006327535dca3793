// What a task would cost. Nothing is created or reserved.
import type { Call, KeyCaller, Reply, SessionCaller } from '../context.ts';
import { priceRequest } from './submit-task.ts';
import { readModeRequest } from './task-requests.ts';
import { presentEstimate } from './views.ts';

export async function readEstimate(call: Call<KeyCaller | SessionCaller>): Promise<Reply> {
  const unknownFields = call.caller.proof === 'session' ? 'refused' : 'ignored';
  const priced = await priceRequest(call, readModeRequest(call.body, unknownFields));
  return { status: 200, body: { data: presentEstimate(priced) } };
}
