// Redeeming a code: credits for the caller, once per use.
import { z } from 'zod';
import { redeem } from '../../db/redemptions.ts';
import { toCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Call, Reply, SessionCaller } from '../gateway.ts';
import { readBody } from '../reading.ts';
import { logRefusal } from '../security-log.ts';

const CODE_CHARACTERS_MAX = 200;
const ROUTE = { method: 'POST', path: '/api/redeem' };

const BODY = z.strictObject({
  code: z
    .string()
    .min(1, 'must not be empty')
    .max(CODE_CHARACTERS_MAX, `must have at most ${CODE_CHARACTERS_MAX} characters`),
});

export async function redeemCode(call: Call<SessionCaller>): Promise<Reply> {
  const { gateway, em, caller, requestId, ip } = call;
  const { code } = readBody(BODY, call.body);
  const userId = caller.user.id;
  const { outcome, isWrong } = await gateway.guesses.limit('redeem', { ip, subject: userId }, async () => {
    const outcome = await redeem(em, gateway.secrets, { userId, code, requestId });
    return { outcome, isWrong: outcome.kind === 'refused' && outcome.reason === 'redeem_code_not_found' };
  });
  if (isWrong) logRefusal(gateway.log, { userId, route: ROUTE, code: 'redeem_code_not_found', requestId });
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
