// Caches API keys for a second on the chat route, where a lookup would cost as much as the rest of the call.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { forkEm, type Database } from '../db/database.ts';
import { findApiKey } from '../db/keys/api-keys.ts';
import type { Secrets } from '../db/secrets.ts';

export type CachedApiKey = NonNullable<Awaited<ReturnType<typeof findApiKey>>>;

/**
 * Age limit of an entry: a changed or revoked key may still be answered this long. It cannot spend, because
 * each reservation checks the key in SQL.
 */
const CACHED_MS = 1_000;
const KEYS_MAX = 10_000;

export class ApiKeyCache {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #lookups: LRUCache<string, Promise<CachedApiKey | null>>;

  /** `now` is the clock, in milliseconds; tests replace it. */
  constructor(database: Database, secrets: Secrets, now: () => number = Date.now) {
    this.#database = database;
    this.#secrets = secrets;
    this.#lookups = new LRUCache({ max: KEYS_MAX, ttl: CACHED_MS, ttlResolution: 0, perf: { now } });
  }

  /** Finds the key and its user; null for an unknown key. Concurrent requests with one key share a lookup. */
  find(text: string): Promise<CachedApiKey | null> {
    const name = hash('sha256', text, 'base64');
    const cached = this.#lookups.get(name);
    if (cached) return cached;
    const lookup = findApiKey(forkEm(this.#database), this.#secrets, text);
    this.#lookups.set(name, lookup);
    // Neither an unknown key nor a failed lookup is cached.
    lookup.then(
      (key) => key ?? this.#lookups.delete(name),
      () => this.#lookups.delete(name),
    );
    return lookup;
  }
}
