// Logging in and out of the console.
import { z } from 'zod';
import { PASSWORD_CHARACTERS_MAX, verifyPassword } from '../../db/passwords.ts';
import { createSession, deleteSession } from '../../db/sessions.ts';
import { findUserByEmail } from '../../db/users.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Call, Reply, SessionCaller } from '../gateway.ts';
import { SESSION_COOKIE } from '../middleware/session.ts';
import { readBody } from '../reading.ts';
import { presentUser } from '../views.ts';

const LOGIN_BODY = z.strictObject({
  email: z.string().min(1, 'must not be empty').max(320),
  password: z.string().min(1, 'must not be empty').max(PASSWORD_CHARACTERS_MAX),
});

/** One answer and one timing for an unknown user and a wrong password. */
export async function logIn({ gateway, em, body }: Call): Promise<Reply> {
  const { email, password } = readBody(LOGIN_BODY, body);
  const user = await findUserByEmail(em, email);
  const isRight = await verifyPassword(password, user?.passwordHash ?? null);
  if (!user || !isRight) throw new GatewayError('invalid_credentials');
  if (user.disabledAt) throw new GatewayError('account_disabled');
  const token = await createSession(em, gateway.secrets, user.id);
  const headers = { 'set-cookie': writeCookie(token, gateway.production) };
  return { status: 200, body: { data: presentUser(user) }, headers };
}

export async function logOut({ gateway, em, caller }: Call<SessionCaller>): Promise<Reply> {
  await deleteSession(em, caller.session.id);
  return { status: 204, headers: { 'set-cookie': `${writeCookie('', gateway.production)}; Max-Age=0` } };
}

export async function readMe({ caller }: Call<SessionCaller>): Promise<Reply> {
  return { status: 200, body: { data: presentUser(caller.user) } };
}

function writeCookie(token: string, secure: boolean): string {
  return `${SESSION_COOKIE}=${token}; HttpOnly; SameSite=Lax; Path=/${secure ? '; Secure' : ''}`;
}
