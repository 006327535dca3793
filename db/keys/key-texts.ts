// The text of an API key: how it is made, and how a mistyped one is recognised without a query.
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'sk-svc_';
const SECRET_CHARACTERS = 43; // 256 bits in base 62
const CHECKSUM_CHARACTERS = 6;
const VISIBLE_CHARACTERS = 8;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a key: prefix, 256 random bits, and a checksum over both. */
export function makeKeyText(): string {
  const secret = Array.from({ length: SECRET_CHARACTERS }, () =>
    BASE62.charAt(randomInt(BASE62.length)),
  ).join('');
  return `${PREFIX}${secret}${checksumOf(PREFIX + secret)}`;
}

/** Whether form and checksum are right, so that a mistyped key costs no query. */
export function isWellFormed(key: string): boolean {
  if (!/^sk-svc_[0-9A-Za-z]{49}$/.test(key)) return false;
  return checksumOf(key.slice(0, -CHECKSUM_CHARACTERS)) === key.slice(-CHECKSUM_CHARACTERS);
}

/** The beginning of a key, by which its owner recognises it; far too short to guess the rest. */
export function visiblePartOf(key: string): string {
  return key.slice(0, PREFIX.length + VISIBLE_CHARACTERS);
}

function checksumOf(text: string): string {
  let value = crc32(text);
  let checksum = '';
  for (let position = 0; position < CHECKSUM_CHARACTERS; position += 1) {
    checksum = BASE62.charAt(value % BASE62.length) + checksum;
    value = Math.floor(value / BASE62.length);
  }
  return checksum;
}
