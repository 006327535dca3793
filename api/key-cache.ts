// Finds API keys: for chat cached for seconds, because a lookup would cost as much as the rest of the call;
// for all other routes fresh, with a lookup shared by requests that arrive together.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { forkEm, type Database } from '../db/database.ts';
import { findApiKey, type KeyHolder } from '../db/keys/find-key.ts';
import type { Secrets } from '../db/secrets.ts';
import { JointLookups } from './joint-lookups.ts';

/**
 * Age limit of an entry: a changed or revoked key may still be answered this long. It cannot spend, because
 * each reservation checks the key in SQL. With a shorter age, callers with one call a second would be looked
 * up at each of them.
 */
const CACHED_MS = 5_000;
const KEYS_MAX = 10_000;

export class ApiKeyCache {
  readonly #lookUp: (text: string) => Promise<KeyHolder | null>;
  readonly #lookups: LRUCache<string, Promise<KeyHolder | null>>;
  readonly #joint = new JointLookups<KeyHolder | null>();

  /** `now` is the clock, in milliseconds; tests replace it. */
  constructor(database: Database, secrets: Secrets, now: () => number = Date.now) {
    const em = forkEm(database); // one for all: statements on the pool leave nothing in it
    this.#lookUp = (text) => findApiKey(em, secrets, text);
    this.#lookups = new LRUCache({ max: KEYS_MAX, ttl: CACHED_MS, ttlResolution: 0, perf: { now } });
  }

  /**
   * Finds the key and its user, as they were some seconds ago at the most; null for an unknown key.
   * Concurrent requests with one key share a lookup.
   */
  find(text: string): Promise<KeyHolder | null> {
    const name = nameOf(text);
    const cached = this.#lookups.get(name);
    if (cached) return cached;
    const lookup = this.#lookUp(text);
    this.#lookups.set(name, lookup);
    // What is refused is not cached: its owner may mend it at any moment. Neither is a failed lookup.
    lookup.then(
      (found) => isUsable(found) || this.#lookups.delete(name),
      () => this.#lookups.delete(name),
    );
    return lookup;
  }

  /** Finds the key and its user as they are now; null for an unknown key. */
  findFresh(text: string): Promise<KeyHolder | null> {
    return this.#joint.find(nameOf(text), () => this.#lookUp(text));
  }
}

/** The name of a key in memory, so that its text is not kept. */
function nameOf(text: string): string {
  return hash('sha256', text, 'base64');
}

function isUsable(found: KeyHolder | null): boolean {
  if (!found || found.user.disabledAt) return false;
  const { expiresAt } = found.key;
  return !expiresAt || expiresAt > new Date();
}
