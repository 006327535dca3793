// POST /v1/responses: OpenAI's Responses API without a memory, on the same bill as chat.
import type { KeyCaller, Reply, RequestContext } from '../context.ts';
import { readResponsesCall } from '../responses/read-responses.ts';
import { answerCall } from '../chat/answer-call.ts';

export function createResponse(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  return answerCall(ctx, readResponsesCall);
}
