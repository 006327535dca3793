// Changes a user's own password, and holds the rules of a new password.
import { z } from 'zod';
import { isCommonPassword } from '../../db/identity/common-passwords.ts';
import { changePassword } from '../../db/identity/password-change.ts';
import {
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  verifyPassword,
} from '../../db/identity/passwords.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { readBody } from '../http/request-fields.ts';
import { setSessionCookie } from '../http/session-cookie.ts';
import { presentUser } from '../account/views.ts';

const LENGTH = `must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`;

/** Schema of a new password: long enough and not common. Which characters it has is the user's choice. */
export const NEW_PASSWORD = z
  .string()
  .min(PASSWORD_CHARACTERS_MIN, LENGTH)
  .max(PASSWORD_CHARACTERS_MAX, LENGTH)
  .refine((password) => !isCommonPassword(password), 'is one of the first that anybody would try');

export const PASSWORD_BODY = z.strictObject({
  currentPassword: z.string().min(1, 'must not be empty').max(PASSWORD_CHARACTERS_MAX),
  newPassword: NEW_PASSWORD,
});

/** Changes the password and ends all other sessions of the user; this session gets a new token. */
export async function changeOwnPassword(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, body, ip, limitBackend } = ctx;
  const { user } = caller;
  const { currentPassword, newPassword } = readBody(PASSWORD_BODY, body);
  const attemptedBy = { ip, subject: user.id, limitBackend };
  const { isWrong } = await services.guesses.limit('password', attemptedBy, async () => {
    return { isWrong: !(await verifyPassword(currentPassword, user.passwordHash)) };
  });
  if (isWrong) throw new GatewayError('invalid_credentials');
  const token = await changePassword(em, services.secrets, caller, newPassword, originOf(ctx));
  if (token === null) throw new GatewayError('not_authenticated'); // ended, or changed, by another request
  const headers = setSessionCookie(token, services.production);
  return { status: 200, body: { data: presentUser(user) }, headers };
}
