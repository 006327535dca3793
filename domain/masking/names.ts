// Names that announce a secret: keys of an object, headers, parameters of a query string.

import type { JsonValue } from '../json.ts';

const SECRET_NAMES: ReadonlySet<string> = new Set([
  ...['authorization', 'cookie', 'setcookie', 'apikey', 'xapikey', 'key', 'token', 'accesstoken'],
  ...['refreshtoken', 'idtoken', 'secret', 'clientsecret', 'password', 'passwd', 'pwd', 'credential'],
  ...['credentials', 'privatekey', 'signature', 'sig', 'session', 'bearer', 'jwt', 'passphrase', 'cookies'],
  ...['sessionid', 'otp', 'totp', 'recoverycode', 'recoverycodes'],
]);

/** Signatures and tokens of music and of tokenizers. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set([
  ...['timesignature', 'keysignature', 'eostoken', 'bostoken', 'padtoken', 'unktoken'],
]);

const SECRET_PART = /apikey|password|passwd|authorization|privatekey|secretkey|clientsecret|accesskey/;
const SECRET_ENDING =
  /(?:secrets?|credentials?|signatures?|passphrase|signingkey|encryptionkey|authkey|masterkey|svcsession|cookies?)$/;

/** `max_tokens` and its like count; only these endings name the token itself. */
const TOKEN_ENDING = /token$|^tokens$|(?:access|refresh|id|auth|session|bearer|api)tokens$/;

/** Writes a name as names are compared: in lower case, without `-`, `_`, dots and spaces. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, '');
}

/** Whether a value under this folded name must not be shown. */
export function hidesValue(foldedName: string, value: JsonValue): boolean {
  if (SECRET_NAMES.has(foldedName)) return true;
  if (HARMLESS_NAMES.has(foldedName) || value === null || typeof value === 'boolean') return false;
  if (SECRET_PART.test(foldedName) || SECRET_ENDING.test(foldedName)) return true;
  return TOKEN_ENDING.test(foldedName) && !isCount(value);
}

function isCount(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'number');
  return typeof value === 'number' || (typeof value === 'string' && /^\d{0,9}$/.test(value));
}
