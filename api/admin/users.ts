// Creates, lists and changes users, and grants credits. No administrator can give permissions beyond theirs.
import { z } from 'zod';
import type { User } from '../../db/entities/identity.ts';
import {
  addUser,
  changeUser,
  grantCredits,
  type UserChanges,
} from '../../db/identity/user-administration.ts';
import { findUserRecord, listUserRecords } from '../../db/identity/user-records.ts';
import { EMAIL_CHARACTERS_MAX, normaliseEmail } from '../../db/identity/users.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { NEW_PASSWORD } from '../console/password.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { originOf } from '../http/audit-origin.ts';
import { answerOnce } from '../idempotent-effects.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { oneOf, positiveCredits, readBody, readId, readQuery, shortText } from '../http/request-fields.ts';
import { logRefusal } from '../monitoring/security-log.ts';
import { presentUserRecord } from './views.ts';
import type { Em } from '../../db/database.ts';

const GRANT_CREDITS_MAX = 10_000_000;
const NOTE_CHARACTERS_MAX = 200;

const email = z
  .string()
  .meta({ format: 'email', maxLength: EMAIL_CHARACTERS_MAX })
  .transform(normaliseEmail)
  .pipe(
    z
      .email('must be an e-mail address')
      .max(EMAIL_CHARACTERS_MAX, `must have at most ${EMAIL_CHARACTERS_MAX} characters`),
  );
/**
 * Schema of permissions: each once and in the order of the catalogue, so that equal permissions are equal
 * lists.
 */
const permissions = z
  .array(oneOf(PERMISSIONS))
  .transform((names) => PERMISSIONS.filter((permission) => names.includes(permission)));

export const NEW_USER_BODY = z.strictObject({
  email,
  password: NEW_PASSWORD,
  permissions: permissions.default([]),
});
export const USER_CHANGES = z.strictObject({
  permissions: permissions.optional(),
  disabled: z.boolean().optional(),
  password: NEW_PASSWORD.optional(),
  frozen: z.literal(false, 'can only be lifted: false').optional(),
});
export const GRANT_BODY = z.strictObject({
  credits: positiveCredits(GRANT_CREDITS_MAX),
  note: shortText(NOTE_CHARACTERS_MAX),
});
export const USER_LIST_QUERY = z.object({
  ...pageQuery('usr'),
  email: z.string().min(1, 'must not be empty').optional().describe('The whole e-mail address.'),
  q: shortText(EMAIL_CHARACTERS_MAX).optional().describe('The beginning of the e-mail address.'),
});

export async function createUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const input = readBody(NEW_USER_BODY, ctx.body);
  if (!covers(ctx.caller.user, input.permissions)) throw permissionError(ctx, 'POST', '/api/admin/users');
  const user = await addUser(ctx.em, originOf(ctx), input);
  if (!user) throw new GatewayError('email_taken', { param: 'email' });
  return answerUser(ctx.em, 201, user.id);
}

export async function readUser({ em, params }: RequestContext<SessionCaller>): Promise<Reply> {
  return answerUser(em, 200, readId('usr', params));
}

export async function listAllUsers({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, email: wanted, q } = readQuery(USER_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null, email: wanted ?? null, q: q ?? null };
  return answerPage(await listUserRecords(em, page), limit, presentUserRecord);
}

export async function updateUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const changes = readBody(USER_CHANGES, ctx.body);
  const id = readId('usr', ctx.params);
  const user = await changeUser(ctx.em, originOf(ctx), id, changes, (target) =>
    mayChange(ctx.caller.user, target, changes),
  );
  if (user === 'not_found') throw new GatewayError('not_found');
  if (user === 'refused') throw permissionError(ctx, 'PATCH', '/api/admin/users/:id');
  if (user === 'last_administrator') throw new GatewayError(user);
  return answerUser(ctx.em, 200, user.id);
}

export async function grantToUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { credits, note } = readBody(GRANT_BODY, ctx.body);
  const input = { userId: readId('usr', ctx.params), credits, note };
  return answerOnce(ctx, (em) => grantIn(em, ctx, input));
}

async function grantIn(
  em: Em,
  ctx: RequestContext<SessionCaller>,
  input: { userId: string; credits: MicroCredits; note: string },
): Promise<Reply> {
  const move = await grantCredits(em, originOf(ctx), input);
  if (move === 'not_found' || move === 'balance_limit') throw new GatewayError(move);
  const { transferId: ledgerEntryId, balance, available } = move;
  const data = { ledgerEntryId, balance: toCredits(balance), available: toCredits(available) };
  return { status: 201, body: { data } };
}

async function answerUser(em: Em, status: number, id: string): Promise<Reply> {
  const record = await findUserRecord(em, id);
  if (!record) throw new GatewayError('not_found');
  return { status, body: { data: presentUserRecord(record) } };
}

/**
 * Whether the actor has all permissions of the target: setting the password of a user with more would be
 * privilege escalation. Users cannot disable themselves either.
 */
function mayChange(actor: User, target: User, changes: UserChanges): boolean {
  if (changes.disabled && actor.id === target.id) return false;
  return covers(actor, target.permissions) && covers(actor, changes.permissions ?? []);
}

function covers(actor: User, wanted: readonly string[]): boolean {
  return wanted.every((permission) => actor.permissions.includes(permission));
}

function permissionError(ctx: RequestContext<SessionCaller>, method: string, path: string): GatewayError {
  const { services, caller, requestId } = ctx;
  const code = 'permission_denied';
  logRefusal(services.log, { userId: caller.user.id, route: { method, path }, code, requestId });
  return new GatewayError(code);
}
