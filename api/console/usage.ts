// GET /api/usage: lists the caller's own chat calls.
import { z } from 'zod';
import { listOwnChatCalls } from '../../db/chat/call-records.ts';
import { CHAT_CALL_STATUSES } from '../../domain/chat-calls.ts';
import { presentChatCall } from '../chat/views.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { filterText, oneOf, periodQuery, readQuery } from '../http/request-fields.ts';

export const USAGE_QUERY = z.object({
  ...pageQuery('call'),
  model: filterText(),
  keyId: filterText(),
  errorCode: filterText(),
  ...periodQuery(),
  status: oneOf(CHAT_CALL_STATUSES).optional(),
});

export async function listUsage({ em, caller, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, model, keyId, status, errorCode, from, to } = readQuery(USAGE_QUERY, query);
  const found = await listOwnChatCalls(em, caller.user.id, {
    limit: limit + 1,
    beforeId: cursor ?? null,
    model,
    keyId,
    status,
    errorCode,
    from,
    to,
  });
  return answerPage(found, limit, presentChatCall);
}
