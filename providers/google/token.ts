// How Google Cloud knows its customers: by an access token, for which a service account's signature is exchanged.
import { sign } from 'node:crypto';
import { requestJson } from '../http/client.ts';
import { UpstreamFailure } from '../provider.ts';
import { membersOf, numberOf, textOf } from '../http/json-fields.ts';
import type { Credential } from '../settings.ts';

export interface TokenSource {
  /**
   * The access token of a credential: its key itself, or, where the key is a service account's JSON, what its token
   * endpoint gave for it. Throws an UpstreamFailure, always `not_received`: no work was handed over.
   */
  tokenFor(credential: Credential): Promise<string>;
  /** Another one is asked for the next time. */
  forget(credentialId: string): void;
}

interface ServiceAccount {
  email: string;
  privateKey: string;
  privateKeyId: string | null;
  tokenUrl: string;
}

interface Kept {
  token: Promise<string>;
  untilMs: number;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;
/** A token is not used for the last part of its life, which is for calls under way and for clocks that differ. */
const UNUSED_MS = 300_000;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** `now` is in milliseconds. */
export function createTokenSource(now: () => number): TokenSource {
  const kept = new Map<string, Kept>();
  return {
    tokenFor: ({ id, key }) => {
      if (!key.startsWith('{')) return Promise.resolve(key);
      const known = kept.get(id);
      if (known && now() < known.untilMs) return known.token;
      const entry: Kept = { untilMs: Infinity, token: Promise.resolve('') };
      // Whoever asks in the meantime waits for the same one.
      entry.token = exchange(key, now()).then(
        ({ token, lifetimeMs }) => {
          entry.untilMs = now() + lifetimeMs - Math.min(UNUSED_MS, lifetimeMs / 2);
          return token;
        },
        (error: unknown) => {
          if (kept.get(id) === entry) kept.delete(id);
          throw error;
        },
      );
      kept.set(id, entry);
      return entry.token;
    },
    forget: (credentialId) => void kept.delete(credentialId),
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
        assertion: writeAssertion(account, Math.floor(nowMs / 1000)),
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

/** Whatever became of it, the work itself was not handed over. A refusal is one of the account. */
function failureOfExchange(failure: UpstreamFailure): UpstreamFailure {
  const { errorClass, text, status, retryAfterMs, isSilence } = failure;
  const passes = ['transient', 'rate', 'invalid_response'].includes(errorClass);
  const options = { text, status, retryAfterMs, isSilence, cause: failure };
  return new UpstreamFailure(passes ? 'transient' : 'auth', 'not_received', options);
}

/** A JSON Web Token (RFC 7523) signed with RS256, good for an hour. */
function writeAssertion(account: ServiceAccount, nowSeconds: number): string {
  const header = {
    alg: 'RS256',
    typ: 'JWT',
    ...(account.privateKeyId === null ? {} : { kid: account.privateKeyId }),
  };
  const claims = {
    iss: account.email,
    scope: SCOPE,
    aud: account.tokenUrl,
    iat: nowSeconds,
    exp: nowSeconds + ASSERTION_SECONDS,
  };
  const signed = `${encode(header)}.${encode(claims)}`;
  try {
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), account.privateKey).toString('base64url')}`;
  } catch {
    throw new UpstreamFailure('auth', 'not_received', { text: 'The service account’s key cannot sign.' });
  }
}

function readAccount(key: string): ServiceAccount {
  let json: unknown = null;
  try {
    json = JSON.parse(key);
  } catch {
    // The parser's message quotes the key, so nothing of it is kept.
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

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
