// Creates, lists, reads and disables redeem codes. The code itself is only in the answer that creates it.
import { z } from 'zod';
import {
  createRedeemCode,
  disableRedeemCode,
  findRedeemCode,
  listRedeemCodes,
  listRedemptions,
  REDEEM_CODE_STATUSES,
} from '../../db/redeem/redeem-codes.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { answerOnce } from '../idempotent-effects.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import {
  positiveCredits,
  futureInstant,
  oneOf,
  readBody,
  readId,
  readQuery,
  shortText,
} from '../http/request-fields.ts';
import { presentNewRedeemCode, presentRedeemCode, presentRedemption } from './views.ts';
import type { Em } from '../../db/database.ts';

const LABEL_CHARACTERS_MAX = 100;
const CREDITS_MAX = 10_000_000;
const USES_MAX = 1_000_000;
const REDEMPTIONS_SHOWN_MAX = 1_000;

const uses = z.int(`must be a whole number from 1 to ${USES_MAX}`).min(1).max(USES_MAX);

export const NEW_CODE_BODY = z
  .strictObject({
    label: shortText(LABEL_CHARACTERS_MAX),
    credits: positiveCredits(CREDITS_MAX),
    maxUses: uses.default(1),
    expiresAt: futureInstant().nullish(),
    perUserLimit: uses.nullish(),
  })
  .refine(({ maxUses, perUserLimit }) => (perUserLimit ?? 1) <= maxUses, {
    path: ['perUserLimit'],
    message: 'must not be above maxUses',
  });

export const CODE_LIST_QUERY = z.object({
  ...pageQuery('rdm'),
  status: oneOf(REDEEM_CODE_STATUSES).optional(),
  label: shortText(LABEL_CHARACTERS_MAX).optional().describe('The whole label.'),
});

/**
 * Creates a redeem code. A repeat with the same idempotency key is answered without the code, which is
 * stored nowhere.
 */
export async function createCode(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const input = readBody(NEW_CODE_BODY, ctx.body);
  return answerOnce(
    ctx,
    (em) => createIn(em, ctx, input),
    ({ status, body }) => {
      const { code: _code, ...rest } = body.data;
      return { status, body: { data: { ...rest, codeShownOnce: true } } };
    },
  );
}

export async function disableCode(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const disabled = await disableRedeemCode(ctx.em, originOf(ctx), readId('rdm', ctx.params));
  if (!disabled) throw new GatewayError('redeem_code_not_found');
  return { status: 200, body: { data: presentRedeemCode(disabled) } };
}

export async function listCodes({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, ...filters } = readQuery(CODE_LIST_QUERY, query);
  const found = await listRedeemCodes(em, { limit: limit + 1, beforeId: cursor ?? null, ...filters });
  return answerPage(found, limit, presentRedeemCode);
}

export async function readCode({ em, params }: RequestContext<SessionCaller>): Promise<Reply> {
  const code = await findRedeemCode(em, readId('rdm', params));
  if (!code) throw new GatewayError('redeem_code_not_found');
  const redemptions = await listRedemptions(em, code.id, REDEMPTIONS_SHOWN_MAX);
  const data = { ...presentRedeemCode(code), redemptions: redemptions.map(presentRedemption) };
  return { status: 200, body: { data } };
}

async function createIn(em: Em, ctx: RequestContext<SessionCaller>, input: z.output<typeof NEW_CODE_BODY>) {
  const { services, caller } = ctx;
  const { text, record } = await createRedeemCode(em, services.secrets, originOf(ctx), {
    label: input.label,
    credits: input.credits,
    maxUses: input.maxUses,
    perUserLimit: input.perUserLimit ?? null,
    expiresAt: input.expiresAt ?? null,
    createdBy: caller.user.id,
  });
  const { id, ...rest } = presentNewRedeemCode(record);
  return { status: 201, body: { data: { id, code: text, ...rest } } };
}
