// POST /api/redeem: exchanges a redeem code for credits. The limit of guesses is in the route's row.
import { z } from 'zod';
import { redeem } from '../../db/redeem/redemptions.ts';
import { toCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Reply, RequestContext, SessionCaller } from '../context.ts';
import { readBody } from '../http/request-fields.ts';
import { answerOnce } from '../idempotent-effects.ts';

const CODE_CHARACTERS_MAX = 200;

export const REDEEM_BODY = z.strictObject({
  code: z
    .string()
    .min(1, 'must not be empty')
    .max(CODE_CHARACTERS_MAX, `must have at most ${CODE_CHARACTERS_MAX} characters`),
});

export async function redeemCode(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, caller, requestId } = ctx;
  const { code } = readBody(REDEEM_BODY, ctx.body);
  return answerOnce(ctx, async (em) => {
    const outcome = await redeem(em, services.secrets, { userId: caller.user.id, code, requestId });
    if (outcome.kind === 'refused') throw new GatewayError(outcome.reason);
    const { credits, balance, available, redeemedAt, transferId: ledgerEntryId } = outcome;
    const data = {
      credits: toCredits(credits),
      balance: toCredits(balance),
      available: toCredits(available),
      redeemedAt: redeemedAt.toISOString(),
      ledgerEntryId,
    };
    return { status: 200, body: { data } };
  });
}
