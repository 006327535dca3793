// Lists the caller's own sessions, and ends one of them or all others.
import { z } from 'zod';
import { endOtherSessions, endOwnSession } from '../../db/identity/ending-sessions.ts';
import { listOwnSessions } from '../../db/identity/sessions.ts';
import { GatewayError } from '../../domain/errors.ts';
import { presentSession } from '../account/views.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { readId, readQuery } from '../http/request-fields.ts';
import { clearSessionCookie } from '../http/session-cookie.ts';

export const SESSION_LIST_QUERY = z.object(pageQuery('ses'));

export async function listSessions({ em, caller, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(SESSION_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null };
  const found = await listOwnSessions(em, caller.user.id, page);
  return answerPage(found, limit, (session) => presentSession(session, caller.session.id));
}

/** Ends one session. Ending the caller's own is a logout. */
export async function endSession(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, params } = ctx;
  const id = readId('ses', params);
  const isEnded = await endOwnSession(em, originOf(ctx), caller.user.id, id);
  if (!isEnded) throw new GatewayError('not_found');
  return { status: 204, headers: id === caller.session.id ? clearSessionCookie(services.production) : {} };
}

export async function endSessionsElsewhere(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { user, session } = ctx.caller;
  const owner = { userId: user.id, sessionId: session.id };
  const sessionsEnded = await endOtherSessions(ctx.em, originOf(ctx), owner);
  return { status: 200, body: { data: { sessionsEnded } } };
}
