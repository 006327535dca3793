// Finds API keys: for chat cached for a minute, because a lookup would cost as much as the rest of the call,
// and for creations that will be refused for their number; else fresh, with a lookup shared by requests that
// arrive together.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { forkEm, type Database } from '../db/database.ts';
import { findApiKey, type KeyHolder } from '../db/keys/find-key.ts';
import type { Secrets } from '../db/secrets.ts';
import { CoalescedLookups } from './coalesced-lookups.ts';

/**
 * Age limit of an entry, from its lookup. A revoked key may pass authentication this long. It cannot spend,
 * because each reservation checks key and user in SQL; what it refuses for them is to be forgotten.
 */
const REMEMBERED_MS = 60_000;
const KEYS_MAX = 10_000;

interface Entry {
  lookup: Promise<KeyHolder | null>;
  readAtMs: number;
}

export class ApiKeyCache {
  readonly #lookUp: (text: string) => Promise<KeyHolder | null>;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: KEYS_MAX });
  /** The entry that a key was found by. */
  readonly #entryOf = new WeakMap<KeyHolder['key'], Entry>();
  readonly #lookups = new CoalescedLookups<KeyHolder | null>();

  /** `now` is the clock, in milliseconds; tests replace it. */
  constructor(database: Database, secrets: Secrets, now: () => number = Date.now) {
    const em = forkEm(database); // one for all: statements on the pool leave nothing in it
    this.#lookUp = (text) => findApiKey(em, secrets, text);
    this.#now = now;
  }

  /**
   * Finds the key and its user, as they were a minute ago at the most; null for an unknown key.
   * Concurrent requests with one key share a lookup.
   */
  find(text: string): Promise<KeyHolder | null> {
    const name = nameOf(text);
    const cached = this.#entries.get(name);
    const nowMs = this.#now();
    if (cached && nowMs - cached.readAtMs < REMEMBERED_MS) return cached.lookup;
    const lookup = this.#lookUp(text);
    const entry: Entry = { lookup, readAtMs: nowMs };
    this.#entries.set(name, entry);
    const drop = (): void => {
      if (this.#entries.peek(name) === entry) this.#entries.delete(name);
    };
    // What is refused is not cached: its owner may mend it at any moment. Neither is a failed lookup.
    lookup.then((found) => {
      if (found && isUsable(found)) this.#entryOf.set(found.key, entry);
      else drop();
    }, drop);
    return lookup;
  }

  /** Finds the key and its user as they are now; null for an unknown key. */
  findFresh(text: string): Promise<KeyHolder | null> {
    return this.#lookups.find(nameOf(text), () => this.#lookUp(text));
  }

  /**
   * Looks the key up again at its next request: what is remembered of it refused one and may be mended, or is
   * not true any more.
   */
  forget(key: KeyHolder['key']): void {
    const entry = this.#entryOf.get(key);
    if (entry) entry.readAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** The name of a key in memory, so that its text is not kept. */
function nameOf(text: string): string {
  return hash('sha256', text, 'base64');
}

function isUsable({ key, user }: KeyHolder): boolean {
  if (user.disabledAt) return false;
  return !key.expiresAt || key.expiresAt > new Date();
}
