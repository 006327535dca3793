// Keys seen a moment ago, for the one route where looking them up would cost as much as the rest of the call.
import { createHash } from 'node:crypto';
import { findApiKey } from '../db/keys/api-keys.ts';
import type { Secrets } from '../db/secrets.ts';
import { forkEm, type Database } from '../db/database.ts';

export type KnownKey = NonNullable<Awaited<ReturnType<typeof findApiKey>>>;

/** A change of a key is seen after so long. Spending sees it at once: the reservation judges the key itself. */
const KNOWN_MS = 1_000;
const KEYS_MAX = 10_000;

export class KnownKeys {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #now: () => number;
  readonly #known = new Map<string, { found: Promise<KnownKey | null>; until: number }>();

  constructor(database: Database, secrets: Secrets, now: () => number = Date.now) {
    this.#database = database;
    this.#secrets = secrets;
    this.#now = now;
  }

  /** The key and its user, or null. Requests that come while a key is looked up wait for the same look. */
  find(text: string): Promise<KnownKey | null> {
    const name = createHash('sha256').update(text).digest('base64');
    const entry = this.#known.get(name);
    if (entry && entry.until > this.#now()) return entry.found;
    const found = findApiKey(forkEm(this.#database), this.#secrets, text);
    this.#known.delete(name);
    this.#known.set(name, { found, until: this.#now() + KNOWN_MS });
    this.#forgetOldest();
    // A wrong key is no key that is known, and trouble is over when it is over.
    found.then(
      (key) => key ?? this.#known.delete(name),
      () => this.#known.delete(name),
    );
    return found;
  }

  #forgetOldest(): void {
    for (const name of this.#known.keys()) {
      if (this.#known.size <= KEYS_MAX) return;
      this.#known.delete(name);
    }
  }
}
