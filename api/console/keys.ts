// Lists, creates, limits and revokes the caller's own API keys. The text of a key is shown once.
import { z } from 'zod';
import { createLimitedApiKey, findOwnKey, listOwnKeys } from '../../db/keys/api-keys.ts';
import { changeKey, revokeKey, type KeyChanges } from '../../db/keys/key-changes.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import {
  creditAmount,
  futureInstant,
  readBody,
  readId,
  readQuery,
  shortText,
} from '../http/request-fields.ts';
import { logRefusal } from '../monitoring/security-log.ts';
import { presentKey } from '../account/views.ts';

/** Most unrevoked keys of a user. Expired keys count too: they can be given a later expiry. */
export const API_KEYS_PER_USER_MAX = 100;
const KEY_CREDITS_MAX = 10_000_000;
const NAME_CHARACTERS_MAX = 100;
const SCOPE_MODELS_MAX = 100;

const name = shortText(NAME_CHARACTERS_MAX).describe(`1 to ${NAME_CHARACTERS_MAX} characters.`);
/** Fields that limit a key: absent, null for no limit, or a value. */
const limits = {
  quota: creditAmount(KEY_CREDITS_MAX).nullable().optional().describe('What it may spend in all.'),
  dailyBudget: creditAmount(KEY_CREDITS_MAX)
    .nullable()
    .optional()
    .describe('What it may spend in a day (UTC).'),
  modelScope: z
    .array(z.string())
    .min(1, 'must name a model; null allows all')
    .max(SCOPE_MODELS_MAX, `must name at most ${SCOPE_MODELS_MAX} models`)
    .nullable()
    .optional()
    .describe('The models it may use.'),
  expiresAt: futureInstant().nullable().optional(),
};

export const NEW_KEY_BODY = z.strictObject({ name, ...limits });
export const KEY_CHANGES = z.strictObject({ name: name.optional(), ...limits });
export const KEY_LIST_QUERY = z.object(pageQuery('key'));

export async function listKeys({ em, caller, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(KEY_LIST_QUERY, query);
  const found = await listOwnKeys(em, caller.user.id, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, presentKey);
}

export async function createKey(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, body } = ctx;
  const input = withKnownModels(services.catalog, readBody(NEW_KEY_BODY, body));
  const userId = caller.user.id;
  const rules = { keysMax: API_KEYS_PER_USER_MAX, origin: originOf(ctx) };
  const created = await createLimitedApiKey(em, services.secrets, { userId, ...input }, rules);
  const entry = created && (await findOwnKey(em, userId, created.id));
  if (!entry) throw new GatewayError('key_limit_reached');
  return { status: 201, body: { data: { ...presentKey(entry), key: created.key } } };
}

/**
 * Changes the name or the limits of a key. Raising or removing a limit needs a step-up verification, as
 * making a key does; lowering one needs none.
 */
export async function changeOwnKey(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { services, em, caller, body, params, requestId } = ctx;
  const changes: KeyChanges = withKnownModels(services.catalog, readBody(KEY_CHANGES, body));
  const owner = { userId: caller.user.id, origin: originOf(ctx), mayWiden: caller.isVerified };
  const changed = await changeKey(em, owner, readId('key', params), changes);
  if (changed === 'may_not_widen') {
    const code = 'verification_required';
    const route = { method: 'PATCH', path: '/api/keys/:id' };
    logRefusal(services.log, { userId: caller.user.id, route, code, requestId });
    throw new GatewayError(code);
  }
  if (changed === 'not_found') throw new GatewayError('not_found');
  if (changed === 'revoked') throw new GatewayError('key_revoked');
  return { status: 200, body: { data: presentKey(changed) } };
}

export async function revokeOwnKey(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const owner = { userId: ctx.caller.user.id, origin: originOf(ctx) };
  const revoked = await revokeKey(ctx.em, owner, readId('key', ctx.params));
  if (!revoked) throw new GatewayError('not_found');
  return { status: 200, body: { data: presentKey(revoked) } };
}

/** Removes repeated models from the scope. Throws `invalid_value` for a model that does not exist. */
function withKnownModels<Fields extends { modelScope?: string[] | null | undefined }>(
  { models }: Catalog,
  fields: Fields,
): Fields {
  const { modelScope } = fields;
  if (!modelScope) return fields;
  const unknown = modelScope.findIndex((id) => !models.has(id));
  if (unknown < 0) return { ...fields, modelScope: [...new Set(modelScope)] };
  const param = `modelScope[${unknown}]`;
  throw new GatewayError('invalid_value', { param, message: `${param}: there is no such model.` });
}
