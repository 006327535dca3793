// Authenticates API keys, the bearer tokens of /v1 and /api/usage/token.
import { GatewayError } from '../../domain/errors.ts';
import type { Request } from 'express';
import type { KeyHolder } from '../../db/keys/find-key.ts';
import type { KeyCaller, RequestContext } from '../context.ts';
import { countHeader } from '../http/raw-headers.ts';
import { addressBlock } from '../limits/address-block.ts';
import type { Services } from '../services.ts';

/**
 * Finds the user of an API key. Throws 401 for a key that is missing or wrong, with one answer for every
 * wrong key, and 403 for a disabled user. Wrong keys are counted per address and refused with 429 in the
 * end; valid keys from that address are not. `mayBeRemembered`: a key as it was a minute ago will do.
 */
export async function authenticateKey(
  services: Services,
  req: Request,
  mayBeRemembered: boolean,
): Promise<KeyCaller> {
  const { authorization } = req.headers;
  if (authorization === undefined || authorization.trim() === '') throw new GatewayError('missing_api_key');
  // Of several headers one may be injected, and proxies differ in which one they read.
  const text = countHeader(req, 'authorization') === 1 ? textOf(authorization) : null;
  const { keyCache } = services;
  const find = (key: string) => (mayBeRemembered ? keyCache.find(key) : keyCache.findFresh(key));
  const found = text === null ? null : await find(text);
  if (!found || text === null) throw await wrongKeyError(services, req.ip ?? '');
  requireUsable(found);
  services.lastUses.record(found.key);
  services.hashRenewals.note(found.key, text);
  return { proof: 'key', ...found };
}

/**
 * Throws as `authenticateKey` does when the key of a request is of no use at this moment: for an answer that
 * passes no reservation, which would find that out, to a request whose key was found in the cache.
 */
export async function requireFreshKey(ctx: RequestContext): Promise<void> {
  const { services, caller, ip } = ctx;
  if (caller.proof !== 'key') return;
  const text = textOf(ctx.header('authorization') ?? '');
  const found = text === null ? null : await services.keyCache.findFresh(text);
  if (!found) throw await wrongKeyError(services, ip);
  requireUsable(found);
}

function textOf(authorization: string): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

function requireUsable({ key, user }: KeyHolder): void {
  if (key.expiresAt && key.expiresAt <= new Date()) throw new GatewayError('expired_api_key');
  if (user.disabledAt) throw new GatewayError('account_disabled');
}

/**
 * The error of a wrong key: 429 when the address sent too many, 401 otherwise, also when the limiter is
 * unavailable.
 */
async function wrongKeyError({ limits }: Services, ip: string): Promise<GatewayError> {
  const { wrongKeys } = limits;
  const taken = await wrongKeys.consume(addressBlock(ip));
  if (taken.verdict === 'over') return limits.refuse('rate_limited', wrongKeys.bucket, taken);
  return new GatewayError('invalid_api_key');
}
