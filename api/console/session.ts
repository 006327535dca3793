// Reads the user of the caller's session, and ends the session.
import { deleteSession } from '../../db/identity/sessions.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { clearSessionCookie } from '../http/session-cookie.ts';
import { presentUser } from '../account/views.ts';

export async function logOut({ services, em, caller }: RequestContext<SessionCaller>): Promise<Reply> {
  await deleteSession(em, caller.session.id);
  return { status: 204, headers: clearSessionCookie(services.production) };
}

export async function readMe({ caller }: RequestContext<SessionCaller>): Promise<Reply> {
  return { status: 200, body: { data: presentUser(caller.user) } };
}
