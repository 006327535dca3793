// Authenticates at Google Cloud: exchanges a service account's signed assertion for an access token.
import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { requestJson } from '../http/client.ts';
import { UpstreamFailure } from '../provider.ts';
import { membersOf, numberOf, textOf } from '../http/json-fields.ts';
import type { Credential } from '../settings.ts';

export interface TokenSource {
  /**
   * The access token of a credential: the key itself, or the token that the token endpoint gave for it where
   * the key is a service account's JSON. Throws an UpstreamFailure, always `not_received` since no work was
   * handed over.
   */
  tokenFor(credential: Credential): Promise<string>;
  /** Drops the cached token, so that the next call asks for another one. */
  invalidate(credentialId: string): void;
}

interface ServiceAccount {
  email: string;
  privateKey: string;
  privateKeyId: string | null;
  tokenUrl: string;
}

interface CachedToken {
  token: Promise<string>;
  reusedUntilMs: number;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;
/** A token is not used in the last part of its life, which covers requests under way and clock skew. */
const UNUSED_MS = 300_000;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** Caches one token per credential. `now` is in milliseconds. */
export function createTokenSource(now: () => number): TokenSource {
  const cache = new Map<string, CachedToken>();
  return {
    tokenFor: ({ id, key }) => {
      if (!key.startsWith('{')) return Promise.resolve(key);
      const cached = cache.get(id);
      if (cached && now() < cached.reusedUntilMs) return cached.token;
      const entry: CachedToken = { reusedUntilMs: Infinity, token: Promise.resolve('') };
      // Concurrent callers wait for the same exchange.
      entry.token = exchange(key, now()).then(
        ({ token, lifetimeMs }) => {
          entry.reusedUntilMs = now() + lifetimeMs - Math.min(UNUSED_MS, lifetimeMs / 2);
          return token;
        },
        (error: unknown) => {
          if (cache.get(id) === entry) cache.delete(id);
          throw error;
        },
      );
      cache.set(id, entry);
      return entry.token;
    },
    invalidate: (credentialId) => void cache.delete(credentialId),
  };
}

async function exchange(key: string, nowMs: number): Promise<{ token: string; lifetimeMs: number }> {
  const account = readAccount(key);
  try {
    const { json } = await requestJson({
      method: 'POST',
      url: account.tokenUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: GRANT_TYPE,
        assertion: await signAssertion(account, Math.floor(nowMs / 1000)),
      }).toString(),
      timeoutMs: TIMEOUT_MS,
      bytesMax: ANSWER_BYTES_MAX,
    });
    const { access_token: token, expires_in: seconds } = membersOf(json);
    if (textOf(token) === null) throw new UpstreamFailure('invalid_response', 'unknown');
    return { token: String(token), lifetimeMs: Math.max(0, numberOf(seconds) ?? 0) * 1000 };
  } catch (error) {
    throw error instanceof UpstreamFailure ? failureOfExchange(error) : error;
  }
}

/**
 * A failed exchange is `not_received`, since no work was handed over; a refusal means that the account is
 * refused.
 */
function failureOfExchange(failure: UpstreamFailure): UpstreamFailure {
  const { errorClass, text, status, retryAfterMs, isSilence } = failure;
  const mayPass = ['transient', 'rate', 'invalid_response'].includes(errorClass);
  const options = { text, status, retryAfterMs, isSilence, cause: failure };
  return new UpstreamFailure(mayPass ? 'transient' : 'auth', 'not_received', options);
}

/** A JSON Web Token (RFC 7523) signed with RS256 that expires after an hour. */
async function signAssertion(account: ServiceAccount, nowSeconds: number): Promise<string> {
  const { email, privateKey, privateKeyId, tokenUrl } = account;
  const claims = {
    iss: email,
    scope: SCOPE,
    aud: tokenUrl,
    iat: nowSeconds,
    exp: nowSeconds + ASSERTION_SECONDS,
  };
  const keyId = privateKeyId === null ? {} : { kid: privateKeyId };
  try {
    return await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...keyId })
      .sign(createPrivateKey(privateKey));
  } catch {
    throw new UpstreamFailure('auth', 'not_received', { text: 'The service account’s key cannot sign.' });
  }
}

function readAccount(key: string): ServiceAccount {
  let json: unknown = null;
  try {
    json = JSON.parse(key);
  } catch {
    // The parser's message quotes the key, so it is not kept as a cause.
  }
  const {
    client_email: email,
    private_key: privateKey,
    private_key_id: keyId,
    token_uri: tokenUrl,
  } = membersOf(json);
  if (typeof email !== 'string' || typeof privateKey !== 'string')
    throw new UpstreamFailure('auth', 'not_received', { text: 'The key is no service account’s JSON.' });
  return { email, privateKey, privateKeyId: textOf(keyId), tokenUrl: textOf(tokenUrl) ?? TOKEN_URL };
}
