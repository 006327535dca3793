// Finds API keys: for chat cached for seconds, because a lookup would cost as much as the rest of the call,
// and for creations that will be refused for their number; else fresh, with a lookup shared by requests that
// arrive together.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { forkEm, type Database } from '../db/database.ts';
import { findApiKey, type KeyHolder } from '../db/keys/find-key.ts';
import type { Secrets } from '../db/secrets.ts';
import { JointLookups } from './joint-lookups.ts';

/**
 * Age limit of an entry: a revoked key may still be answered this long. It cannot spend, because each
 * reservation checks the key in SQL. The age counts from the lookup, or from the last reservation that was
 * granted, which has looked at key and user as well: a key that is used all the time is not looked up again
 * at every few calls.
 */
const CACHED_MS = 5_000;
/** Age limit counted from the lookup alone, for what no reservation looks at: when the key was last used. */
const READ_AGAIN_MS = 60_000;
const KEYS_MAX = 10_000;

interface Entry {
  lookup: Promise<KeyHolder | null>;
  readAtMs: number;
  /** When the key was last known to be good. */
  goodAtMs: number;
}

export class ApiKeyCache {
  readonly #lookUp: (text: string) => Promise<KeyHolder | null>;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: KEYS_MAX });
  /** The entry that a key was found by. */
  readonly #entryOf = new WeakMap<KeyHolder['key'], Entry>();
  readonly #joint = new JointLookups<KeyHolder | null>();

  /** `now` is the clock, in milliseconds; tests replace it. */
  constructor(database: Database, secrets: Secrets, now: () => number = Date.now) {
    const em = forkEm(database); // one for all: statements on the pool leave nothing in it
    this.#lookUp = (text) => findApiKey(em, secrets, text);
    this.#now = now;
  }

  /**
   * Finds the key and its user, as they were some seconds ago at the most; null for an unknown key.
   * Concurrent requests with one key share a lookup.
   */
  find(text: string): Promise<KeyHolder | null> {
    const name = nameOf(text);
    const cached = this.#entries.get(name);
    const nowMs = this.#now();
    if (cached && nowMs - cached.goodAtMs < CACHED_MS && nowMs - cached.readAtMs < READ_AGAIN_MS)
      return cached.lookup;
    const lookup = this.#lookUp(text);
    const entry: Entry = { lookup, readAtMs: nowMs, goodAtMs: nowMs };
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
    return this.#joint.find(nameOf(text), () => this.#lookUp(text));
  }

  /**
   * To be called before a reservation for a key that was found; the function returned, when it was granted:
   * then key and user were good after the call.
   */
  beginProof(key: KeyHolder['key']): () => void {
    const nowMs = this.#now();
    return () => {
      const entry = this.#entryOf.get(key);
      if (entry) entry.goodAtMs = Math.max(entry.goodAtMs, nowMs);
    };
  }

  /** Looks the key up again at its next request: what is remembered of it refused one, and may be mended. */
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
