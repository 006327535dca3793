// Step-up verification: a fresh proof of identity, valid for this session and ten minutes.
import { z } from 'zod';
import { PASSWORD_CHARACTERS_MAX, verifyPassword } from '../../db/identity/passwords.ts';
import { useSecondFactor } from '../../db/identity/second-factors.ts';
import { recordVerificationLock } from '../../db/identity/security-events.ts';
import {
  claimVerifyGuess,
  VERIFICATION_FAILURES_MAX,
  VERIFICATION_LOCK_SECONDS,
  verifySession,
} from '../../db/identity/verification.ts';
import type { User } from '../../db/entities/identity.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { oneOf, readBody } from '../http/request-fields.ts';
import { setSessionCookie } from '../http/session-cookie.ts';

const METHODS = ['password', 'totp'] as const;
type VerifyMethod = (typeof METHODS)[number];

export const VERIFY_BODY = z.strictObject({
  method: oneOf(METHODS),
  code: z.string().min(1, 'must not be empty').max(PASSWORD_CHARACTERS_MAX),
});
const LOCK = {
  name: 'verify-lock',
  points: VERIFICATION_FAILURES_MAX,
  seconds: VERIFICATION_LOCK_SECONDS,
};

export async function readVerification({ caller }: RequestContext<SessionCaller>): Promise<Reply> {
  const { user, session, isVerified: verified } = caller;
  const data = {
    verified,
    method: verified ? session.verifyMethod : null,
    verifiedAt: (verified && session.verifiedAt?.toISOString()) || null,
    expiresAt: (verified && session.verifiedUntil?.toISOString()) || null,
    methods: [methodOf(user)],
  };
  return { status: 200, body: { data } };
}

export async function verify(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, ip, limitBackend } = ctx;
  const { user, session } = caller;
  const { method, code } = readBody(VERIFY_BODY, ctx.body);
  const attemptedBy = { ip, subject: user.id, limitBackend };
  const lockedError = ({ resetMs }: { resetMs: number }): GatewayError =>
    services.limits.refuse('verification_locked', LOCK, { backend: limitBackend, resetMs });
  const { isWrong, claim } = await services.guesses.limit('verify', attemptedBy, async () => {
    const claim = await claimVerifyGuess(em, user.id);
    if (claim.kind === 'locked') throw lockedError(claim);
    return { isWrong: !(await isProof(ctx, method, code)), claim };
  });
  if (isWrong && claim.kind === 'last') {
    await recordVerificationLock(em, originOf(ctx), user.id);
    throw lockedError(claim);
  }
  if (isWrong) throw new GatewayError('verification_failed');
  const verified = await verifySession(em, services.secrets, session, method);
  if (!verified) throw new GatewayError('not_authenticated'); // logged out, or verified, by another request
  const { token, verifiedAt, expiresAt } = verified;
  const data = {
    verified: true,
    method,
    verifiedAt: verifiedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
  return { status: 200, body: { data }, headers: setSessionCookie(token, services.production) };
}

/**
 * Whether the code proves the user's identity. A user with a second factor has to use it, because a
 * password alone proves less than the login did.
 */
async function isProof(
  ctx: RequestContext<SessionCaller>,
  method: VerifyMethod,
  code: string,
): Promise<boolean> {
  const { services, em, caller } = ctx;
  const { user } = caller;
  if (method !== methodOf(user)) return false;
  if (method === 'totp') return useSecondFactor(em, services.secrets, user, code, originOf(ctx));
  return verifyPassword(code, user.passwordHash);
}

function methodOf(user: User): VerifyMethod {
  return user.totpConfirmedAt ? 'totp' : 'password';
}
