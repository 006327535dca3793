// Keyed hashes and encryption with a ring of keys: the newest makes them, all of them verify and decrypt.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** One key of the ring. A ring lists its newest key first. */
export interface SecretKey {
  id: string;
  /** 32 bytes. */
  bytes: Buffer;
}

/** What a derived key is for; a key derived for one purpose is useless for another. */
export type SecretPurpose =
  | 'api-key'
  | 'session'
  | 'login-flow'
  | 'totp'
  | 'recovery-code'
  | 'redeem-code'
  | 'request'
  | 'result'
  | 'answer'
  | 'webhook'
  | 'signed-url'
  | 'rate-limit';

export interface KeyedHash {
  secretKeyId: string;
  hash: Buffer;
}

export interface Sealed {
  secretKeyId: string;
  bytes: Uint8Array;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Hashes and encrypts. Every key is derived from the ring, so rotating the ring rotates all of them. */
export class Secrets {
  readonly #ring: readonly SecretKey[];
  /** As key objects: from bytes Node makes one for each use, which takes longer than the use itself. */
  readonly #derived = new Map<string, KeyObject>();

  constructor(ring: readonly SecretKey[]) {
    if (ring.length === 0) throw new Error('the key ring is empty');
    this.#ring = ring;
  }

  /** The hash to store, made with the newest key. */
  hash(purpose: SecretPurpose, text: string): KeyedHash {
    const key = this.#newest();
    return { secretKeyId: key.id, hash: this.#hmac(purpose, key, text) };
  }

  /** The hashes to look for: one per key of the ring, so that what an older key made is still found. */
  hashes(purpose: SecretPurpose, text: string): Buffer[] {
    return this.#ring.map((key) => this.#hmac(purpose, key, text));
  }

  /** Whether this is the id of the key that makes new hashes. */
  isNewest(secretKeyId: string): boolean {
    return this.#newest().id === secretKeyId;
  }

  /** Whether a key of this id is still in the ring. */
  knows(secretKeyId: string): boolean {
    return this.#ring.some((key) => key.id === secretKeyId);
  }

  /**
   * Encrypts; `context` (such as the task's id) must be the same to decrypt, so that rows cannot be swapped.
   */
  seal(purpose: SecretPurpose, context: string, text: string): Sealed {
    const key = this.#newest();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#derive(purpose, key), nonce).setAAD(
      Buffer.from(context),
    );
    const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { secretKeyId: key.id, bytes };
  }

  /** Decrypts. Throws when the key has left the ring, the context differs, or the bytes were changed. */
  decrypt(purpose: SecretPurpose, context: string, sealed: Sealed): string {
    const key = this.#ring.find((candidate) => candidate.id === sealed.secretKeyId);
    if (!key) throw new Error(`the key ring has no key "${sealed.secretKeyId}"`);
    const nonce = sealed.bytes.subarray(0, NONCE_BYTES);
    const tag = sealed.bytes.subarray(sealed.bytes.length - TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#derive(purpose, key), nonce);
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
    const text = decipher.update(sealed.bytes.subarray(NONCE_BYTES, sealed.bytes.length - TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }

  /** Keys for signing URLs, newest first. */
  signingKeys(): string[] {
    return this.#ring.map((key) => this.#derive('signed-url', key).export().toString('base64url'));
  }

  #newest(): SecretKey {
    const [newest] = this.#ring;
    if (!newest) throw new Error('the key ring is empty');
    return newest;
  }

  #hmac(purpose: SecretPurpose, key: SecretKey, text: string): Buffer {
    return createHmac('sha256', this.#derive(purpose, key)).update(text).digest();
  }

  #derive(purpose: SecretPurpose, key: SecretKey): KeyObject {
    const name = `${purpose}:${key.id}`;
    const known = this.#derived.get(name);
    if (known) return known;
    const derived = createSecretKey(
      Buffer.from(hkdfSync('sha256', key.bytes, '', `svc-gateway:${purpose}`, 32)),
    );
    this.#derived.set(name, derived);
    return derived;
  }
}
