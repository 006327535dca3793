// Authenticates at Kling: by a plain API key, or by a token signed with an access key and a secret key.
import { SignJWT } from 'jose';
import { authorizeByBearer, type Authorize } from '../http/json-api.ts';

const LIFETIME_SECONDS = 1_800;
/** `nbf` is set back to tolerate clock skew. */
const NOT_BEFORE_SECONDS = 5;
/** A token is reused for so long; the remainder covers requests under way and larger clock skew. */
const REUSED_SECONDS = 1_200;

const KEY_PAIR = /^([^:]+):([^:]+)$/;

interface CachedToken {
  /** Of the credential when the token was signed. */
  key: string;
  token: string;
  signedAtSeconds: number;
}

/** A credential's key is a plain API key or `accessKey:secretKey`. `now` is in milliseconds. */
export function createAuthorizer(now: () => number): Authorize {
  const cache = new Map<string, CachedToken>();
  return async (credential) => {
    const { id, key } = credential;
    const pair = KEY_PAIR.exec(key);
    if (!pair) return authorizeByBearer(credential);
    const [, accessKey = '', secretKey = ''] = pair;
    const nowSeconds = Math.floor(now() / 1000);
    const cached = cache.get(id);
    const ageSeconds = nowSeconds - (cached?.signedAtSeconds ?? 0);
    if (cached?.key === key && ageSeconds >= 0 && ageSeconds < REUSED_SECONDS)
      return authorizeByBearer({ id, key: cached.token });
    const token = await signToken(accessKey, secretKey, nowSeconds);
    cache.set(id, { key, token, signedAtSeconds: nowSeconds });
    return authorizeByBearer({ id, key: token });
  };
}

/** Whether a credential's key is `accessKey:secretKey`. */
export function isKeyPair(key: string): boolean {
  return KEY_PAIR.test(key);
}

/** A JSON Web Token (RFC 7519) signed with HS256 that expires after half an hour. */
function signToken(accessKey: string, secretKey: string, nowSeconds: number): Promise<string> {
  return new SignJWT({
    iss: accessKey,
    exp: nowSeconds + LIFETIME_SECONDS,
    nbf: nowSeconds - NOT_BEFORE_SECONDS,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(Buffer.from(secretKey));
}
