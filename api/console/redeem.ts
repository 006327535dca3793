// Redeeming a code: credits for the caller, once per use.
import { z } from 'zod';
import { redeem } from '../../db/redeem/redemptions.ts';
import { toCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerOnce } from '../idempotent-effects.ts';
import { readBody } from '../http/request-fields.ts';
import { logRefusal } from '../monitoring/security-log.ts';
import type { Em } from '../../db/database.ts';

const CODE_CHARACTERS_MAX = 200;
const ROUTE = { method: 'POST', path: '/api/redeem' };

export const REDEEM_BODY = z.strictObject({
  code: z
    .string()
    .min(1, 'must not be empty')
    .max(CODE_CHARACTERS_MAX, `must have at most ${CODE_CHARACTERS_MAX} characters`),
});

export async function redeemCode(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, caller, requestId, ip, limitBackend } = ctx;
  const { code } = readBody(REDEEM_BODY, ctx.body);
  const userId = caller.user.id;
  const guesser = { ip, subject: userId, limitBackend };
  const { reply } = await services.guesses.limit('redeem', guesser, async () => {
    const reply = await answerOnce(ctx, (em) => redeemIn(em, ctx, code)).catch(nullIfUnknown);
    return { reply, isWrong: reply === null };
  });
  if (reply) return reply;
  const unknown = 'redeem_code_not_found';
  logRefusal(services.log, { userId, route: ROUTE, code: unknown, requestId });
  throw new GatewayError(unknown);
}

async function redeemIn(em: Em, ctx: RequestContext<SessionCaller>, code: string): Promise<Reply> {
  const { services, caller, requestId } = ctx;
  const outcome = await redeem(em, services.secrets, { userId: caller.user.id, code, requestId });
  if (outcome.kind === 'refused') throw new GatewayError(outcome.reason);
  const data = {
    credits: toCredits(outcome.credits),
    balance: toCredits(outcome.balance),
    available: toCredits(outcome.available),
    redeemedAt: outcome.redeemedAt.toISOString(),
    ledgerEntryId: outcome.entryId,
  };
  return { status: 200, body: { data } };
}

/** To the limiter a wrong guess is a verdict; everything else that is thrown is none. */
function nullIfUnknown(error: unknown): null {
  if (error instanceof GatewayError && error.code === 'redeem_code_not_found') return null;
  throw error;
}
