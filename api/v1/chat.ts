// POST /v1/chat/completions: its request, and the form of its answer.
import { answerCall } from '../chat/answer-call.ts';
import type { ReadCall } from '../chat/answer-form.ts';
import { chatForm } from '../chat/chat-form.ts';
import { readChat } from '../chat/request/read-chat.ts';
import type { KeyCaller, Reply, RequestContext } from '../context.ts';

export function completeChat(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  return answerCall(ctx, readChatCall);
}

function readChatCall(ctx: RequestContext<KeyCaller>): ReadCall {
  return {
    priced: readChat(ctx),
    requestText: () => JSON.stringify(ctx.body['messages']),
    formOf: (chat, _upstream, requestId) => chatForm(chat, requestId),
  };
}
