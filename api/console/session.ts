// The session a caller has: who it is of, and its end.
import { deleteSession } from '../../db/identity/sessions.ts';
import type { Call, Reply, SessionCaller } from '../context.ts';
import { takeSession } from '../http/session-cookie.ts';
import { presentUser } from '../account/views.ts';

export async function logOut({ gateway, em, caller }: Call<SessionCaller>): Promise<Reply> {
  await deleteSession(em, caller.session.id);
  return { status: 204, headers: takeSession(gateway.production) };
}

export async function readMe({ caller }: Call<SessionCaller>): Promise<Reply> {
  return { status: 200, body: { data: presentUser(caller.user) } };
}
