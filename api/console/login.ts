// Logs a user in to the console: by password, then by the second factor if one is enabled.
import { z } from 'zod';
import type { User } from '../../db/entities/identity.ts';
import {
  claimFlowGuess,
  createLoginFlow,
  findLoginFlow,
  finishLoginFlow,
} from '../../db/identity/login-flows.ts';
import { PASSWORD_CHARACTERS_MAX, verifyPassword } from '../../db/identity/passwords.ts';
import { useSecondFactor } from '../../db/identity/second-factors.ts';
import { createPasswordSession, deleteSessionOfToken } from '../../db/identity/sessions.ts';
import { findUserByEmail, normaliseEmail } from '../../db/identity/users.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply } from '../context.ts';
import { originOfUser } from '../http/audit-origin.ts';
import { readBody } from '../http/request-fields.ts';
import { setSessionCookie } from '../http/session-cookie.ts';
import { presentUser } from '../account/views.ts';

export const LOGIN_BODY = z.strictObject({
  email: z.string().min(1, 'must not be empty').max(320),
  password: z.string().min(1, 'must not be empty').max(PASSWORD_CHARACTERS_MAX),
});
export const SECOND_FACTOR_BODY = z.strictObject({
  flowToken: z.string().min(1, 'must not be empty').max(100),
  code: z.string().min(1, 'must not be empty').max(100),
});

/** Checks a password. An unknown user and a wrong password have the same answer and take the same time. */
export async function logIn(ctx: RequestContext): Promise<Reply> {
  const { services, em, body, ip, limitBackend } = ctx;
  const { email, password } = readBody(LOGIN_BODY, body);
  const attemptedBy = { ip, subject: normaliseEmail(email), limitBackend };
  const { user, isWrong } = await services.guesses.limit('login', attemptedBy, async () => {
    const found = await findUserByEmail(em, email);
    const isRight = await verifyPassword(password, found?.passwordHash ?? null);
    return { user: found, isWrong: !isRight };
  });
  if (!user || isWrong) throw new GatewayError('invalid_credentials');
  if (user.disabledAt) throw new GatewayError('account_disabled');
  if (!user.totpConfirmedAt)
    return startSession(
      ctx,
      user,
      await createPasswordSession(em, services.secrets, user, originOfUser(ctx, user.id)),
    );
  const flowToken = await createLoginFlow(em, services.secrets, user);
  if (flowToken === null) throw new GatewayError('invalid_credentials');
  return { status: 200, body: { data: { twoFactorRequired: true, flowToken } } };
}

/**
 * Checks a second factor. A wrong code, a used code, and an unknown or finished flow have the same answer.
 * The user's limit of guesses counts across flows.
 */
export async function finishLogin(ctx: RequestContext): Promise<Reply> {
  const { services, em, body, ip, limitBackend } = ctx;
  const { flowToken, code } = readBody(SECOND_FACTOR_BODY, body);
  const found = await findLoginFlow(em, services.secrets, flowToken);
  if (!found) throw new GatewayError('invalid_credentials');
  const { flow, user } = found;
  const attemptedBy = { ip, subject: user.id, limitBackend };
  const origin = originOfUser(ctx, user.id);
  const { isWrong } = await services.guesses.limit('second-factor', attemptedBy, async () => {
    const isOpen = await claimFlowGuess(em, flow.id);
    return { isWrong: !isOpen || !(await useSecondFactor(em, services.secrets, user, code, origin)) };
  });
  if (isWrong) throw new GatewayError('invalid_credentials');
  if (user.disabledAt) throw new GatewayError('account_disabled');
  return startSession(ctx, user, await finishLoginFlow(em, services.secrets, flow.id, origin));
}

/**
 * Answers with a new session. A null token is refused: the password changed, or another request completed
 * the flow.
 */
async function startSession(
  { services, em, sessionToken }: RequestContext,
  user: User,
  token: string | null,
): Promise<Reply> {
  if (token === null) throw new GatewayError('invalid_credentials');
  // The cookie is overwritten below; the session that it held could not be ended afterwards.
  if (sessionToken !== null) await deleteSessionOfToken(em, services.secrets, sessionToken);
  const headers = setSessionCookie(token, services.production);
  return { status: 200, body: { data: presentUser(user) }, headers };
}
