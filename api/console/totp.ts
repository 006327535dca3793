// Sets up, confirms and removes a second factor: an authenticator app (TOTP).
import { z } from 'zod';
import { confirmTotp, disableTotp as disable, startTotp } from '../../db/identity/second-factors.ts';
import { makeTotpSecret, writeTotpUrl } from '../../db/identity/totp.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { readBody } from '../http/request-fields.ts';

export const CONFIRM_BODY = z.strictObject({ code: z.string().min(1, 'must not be empty').max(100) });

/**
 * Starts the set-up with a new secret. The second factor is required only once it is confirmed; until then,
 * a second call gives another secret.
 */
export async function enrolTotp({ services, em, caller }: RequestContext<SessionCaller>): Promise<Reply> {
  const secret = makeTotpSecret();
  const isStarted = await startTotp(em, services.secrets, caller.user.id, secret);
  if (!isStarted) throw new GatewayError('totp_already_enabled');
  return { status: 201, body: { data: { secret, otpauthUrl: writeTotpUrl(secret, caller.user.email) } } };
}

/**
 * Confirms the second factor with its first code. Answers the recovery codes, which are never shown again.
 * All other sessions end, and a verification by password counts no more.
 */
export async function confirmEnrolment(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, body, ip, limitBackend } = ctx;
  const { user } = caller;
  const { code } = readBody(CONFIRM_BODY, body);
  if (user.totpConfirmedAt) throw new GatewayError('totp_already_enabled');
  if (!user.totpSecret) throw new GatewayError('not_found', { message: 'No second factor is being set up.' });
  const attemptedBy = { ip, subject: user.id, limitBackend };
  const { recoveryCodes } = await services.guesses.limit('totp-confirm', attemptedBy, async () => {
    const codes = await confirmTotp(em, services.secrets, caller, code, originOf(ctx));
    return { isWrong: codes === null, recoveryCodes: codes };
  });
  if (!recoveryCodes) throw new GatewayError('verification_failed');
  return { status: 200, body: { data: { recoveryCodes } } };
}

/** Removes the second factor and ends all other sessions. Succeeds also when there is none. */
export async function disableTotp(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  await disable(ctx.em, ctx.caller, originOf(ctx));
  return { status: 204 };
}
