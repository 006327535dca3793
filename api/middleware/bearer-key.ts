// Bearer keys: who calls /v1 and /api/usage/token.
import { findApiKey } from '../../db/api-keys.ts';
import type { Em } from '../../db/orm.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Gateway, KeyCaller } from '../gateway.ts';

/** Throws 401 for a key that is missing or not good, 403 for a disabled user. One answer for every bad key. */
export async function authenticateKey(
  gateway: Gateway,
  em: Em,
  authorization: string | undefined,
): Promise<KeyCaller> {
  if (authorization === undefined || authorization.trim() === '') throw new GatewayError('missing_api_key');
  const [, text] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  const found = text === undefined ? null : await findApiKey(em, gateway.secrets, text);
  if (!found) throw new GatewayError('invalid_api_key');
  if (found.key.expiresAt && found.key.expiresAt <= new Date()) throw new GatewayError('expired_api_key');
  if (found.user.disabledAt) throw new GatewayError('account_disabled');
  gateway.lastUses.note(found.key);
  return { proof: 'key', ...found };
}
