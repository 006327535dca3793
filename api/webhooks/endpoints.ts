// Makes, lists, reads, changes and deletes a caller's own webhooks, on /v1 and /api. A secret is shown once.
import { z } from 'zod';
import type { WebhookEndpoint } from '../../db/entities/webhooks.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  findOwnEndpoint,
  listOwnEndpoints,
  rotateSecret,
  type WebhookOwner,
} from '../../db/webhooks/endpoints.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isAllowedUrl } from '../../domain/files/input-images.ts';
import { isLoopbackUrl } from '../../domain/loopback.ts';
import { URL_CHARACTERS_MAX } from '../../domain/urls.ts';
import { WEBHOOK_EVENTS, WEBHOOKS_PER_USER_MAX } from '../../domain/webhooks.ts';
import type { KeyCaller, Reply, RequestContext, SessionCaller } from '../context.ts';
import { originOfUser } from '../http/audit-origin.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { oneOf, positiveCredits, readBody, readId, readQuery, shortText } from '../http/request-fields.ts';
import { presentWebhook } from './views.ts';

type Context = RequestContext<KeyCaller | SessionCaller>;

const DESCRIPTION_CHARACTERS_MAX = 200;
const BALANCE_CREDITS_MAX = 10_000_000;

const url = z
  .string()
  .max(URL_CHARACTERS_MAX, `must have at most ${URL_CHARACTERS_MAX} characters`)
  .describe('https on port 443, with a public host name.');
const events = z
  .array(oneOf(WEBHOOK_EVENTS))
  .min(1, 'must name an event')
  .max(WEBHOOK_EVENTS.length, 'must name each event once')
  .describe('What it is told of.');
const optional = {
  description: shortText(DESCRIPTION_CHARACTERS_MAX).nullable().optional(),
  balanceBelow: positiveCredits(BALANCE_CREDITS_MAX)
    .nullable()
    .optional()
    .describe('With `balance.low`: the event comes when a charge takes the balance below this.'),
};
const newFields = { url, events, ...optional };
const changes = {
  url: url.optional(),
  events: events.optional(),
  ...optional,
  disabled: z.boolean().optional().describe('`true` stops it, `false` enables it again.'),
};

export const NEW_WEBHOOK_BODY = z.strictObject(newFields);
export const WEBHOOK_CHANGES = z.strictObject(changes);
export const NEW_WEBHOOK_BODY_V1 = z.object(newFields);
export const WEBHOOK_CHANGES_V1 = z.object(changes);
export const WEBHOOK_LIST_QUERY = z.object(pageQuery('whk'));

export async function listWebhooks({ em, caller, query }: Context): Promise<Reply> {
  const { limit, cursor } = readQuery(WEBHOOK_LIST_QUERY, query);
  const found = await listOwnEndpoints(em, caller.user.id, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, presentWebhook);
}

export async function createWebhook(ctx: Context): Promise<Reply> {
  const { services, em, caller, body } = ctx;
  const schema = caller.proof === 'key' ? NEW_WEBHOOK_BODY_V1 : NEW_WEBHOOK_BODY;
  const { description = null, balanceBelow = null, ...given } = readBody(schema, body);
  const fields = { ...given, events: [...new Set(given.events)], description, balanceBelow };
  checkUrl(fields.url, services.production);
  checkBalance(fields);
  const created = await createEndpoint(em, services.secrets, ownerOf(ctx), fields, WEBHOOKS_PER_USER_MAX);
  if (!created) throw new GatewayError('webhook_limit_reached');
  return { status: 201, body: { data: { ...presentWebhook(created.endpoint), secret: created.secret } } };
}

export async function readWebhook(ctx: Context): Promise<Reply> {
  return { status: 200, body: { data: presentWebhook(await requireOwnWebhook(ctx)) } };
}

export async function changeWebhook(ctx: Context): Promise<Reply> {
  const { services, em, caller, body } = ctx;
  const schema = caller.proof === 'key' ? WEBHOOK_CHANGES_V1 : WEBHOOK_CHANGES;
  const given = readBody(schema, body);
  const { id } = await requireOwnWebhook(ctx);
  const fields = given.events ? { ...given, events: [...new Set(given.events)] } : given;
  if (fields.url !== undefined) checkUrl(fields.url, services.production);
  const changed = await changeEndpoint(em, ownerOf(ctx), id, fields, (before) => {
    const { events: told = before.events, balanceBelow = before.balanceBelow ?? null } = fields;
    checkBalance({ events: told, balanceBelow });
  });
  if (!changed) throw new GatewayError('not_found');
  return { status: 200, body: { data: presentWebhook(changed) } };
}

/** Once this is answered, nothing more is sent to it. */
export async function deleteWebhook(ctx: Context): Promise<Reply> {
  const deleted = await deleteEndpoint(ctx.em, ownerOf(ctx), readId('whk', ctx.params));
  if (!deleted) throw new GatewayError('not_found');
  return { status: 204 };
}

export async function rotateWebhookSecret(ctx: Context): Promise<Reply> {
  const rotated = await rotateSecret(ctx.em, ctx.services.secrets, ownerOf(ctx), readId('whk', ctx.params));
  if (!rotated) throw new GatewayError('not_found');
  return { status: 200, body: { data: { ...presentWebhook(rotated.endpoint), secret: rotated.secret } } };
}

/** The webhook that the path names. Another user's and a missing one answer the same. */
export async function requireOwnWebhook({ em, caller, params }: Context): Promise<WebhookEndpoint> {
  const found = await findOwnEndpoint(em, caller.user.id, readId('whk', params));
  if (!found) throw new GatewayError('not_found');
  return found;
}

function ownerOf(ctx: Context): WebhookOwner {
  const userId = ctx.caller.user.id;
  return { userId, origin: originOfUser(ctx, userId) };
}

/** In development also plain http to this machine, where receivers are tried. */
function checkUrl(text: string, production: boolean): void {
  const parsed = URL.parse(text);
  const isLocal = parsed !== null && !production && isLoopbackUrl(parsed);
  if (isAllowedUrl(text) || (isLocal && parsed.username === '' && parsed.password === '')) return;
  const message = 'url must be an https URL with a public host name, without a port.';
  throw new GatewayError('url_not_allowed', { param: 'url', message });
}

/** An amount and the event that it is for come together. */
function checkBalance(fields: { events: readonly string[]; balanceBelow: bigint | null }): void {
  const param = 'balanceBelow';
  const isTold = fields.events.includes('balance.low');
  if (isTold && fields.balanceBelow === null)
    throw new GatewayError('missing_field', { param, message: `${param} is required for balance.low.` });
  if (!isTold && fields.balanceBelow !== null)
    throw new GatewayError('conflicting_params', { param, message: `${param} needs the event balance.low.` });
}
