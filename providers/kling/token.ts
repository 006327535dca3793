// How Kling knows its customers: by a plain API key, or by a token that an access key and a secret key make.
import { createHmac } from 'node:crypto';
import type { Credential } from '../settings.ts';

export type Authorize = (credential: Credential) => Readonly<Record<string, string>>;

const LIFETIME_SECONDS = 1_800;
/** Clocks differ a little. */
const EARLY_SECONDS = 5;
/** A token is used for so long; the rest of its life is for calls under way and for clocks that differ more. */
const KEPT_SECONDS = 1_200;

interface Minted {
  key: string;
  token: string;
  mintedAtSeconds: number;
}

/** Answers with the headers that prove who is calling. `now` is in milliseconds. */
export function createAuthorizer(now: () => number): Authorize {
  const minted = new Map<string, Minted>();
  return ({ id, key }) => {
    const pair = /^([^:]+):([^:]+)$/.exec(key);
    if (!pair) return bearer(key);
    const [, accessKey = '', secretKey = ''] = pair;
    const nowSeconds = Math.floor(now() / 1000);
    const known = minted.get(id);
    const ageSeconds = nowSeconds - (known?.mintedAtSeconds ?? 0);
    if (known?.key === key && ageSeconds >= 0 && ageSeconds < KEPT_SECONDS) return bearer(known.token);
    const token = mintToken(accessKey, secretKey, nowSeconds);
    minted.set(id, { key, token, mintedAtSeconds: nowSeconds });
    return bearer(token);
  };
}

/** A JSON Web Token (RFC 7519) signed with HS256, good for half an hour. */
function mintToken(accessKey: string, secretKey: string, nowSeconds: number): string {
  const claims = { iss: accessKey, exp: nowSeconds + LIFETIME_SECONDS, nbf: nowSeconds - EARLY_SECONDS };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secretKey).update(signed).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}
