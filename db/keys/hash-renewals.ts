// Renews the hashes of API keys in passing: a key that is used gets a hash of the ring's newest key, so that
// the older ones can leave the ring.
import { sql } from '@mikro-orm/postgresql';
import type { Log } from '../../log.ts';
import { forkEm, type Database } from '../database.ts';
import type { ApiKey } from '../entities/identity.ts';
import type { Secrets } from '../secrets.ts';

const FLUSH_EVERY_MS = 5_000;
/** Hashes that wait to be written; further keys get theirs when they are used again. */
const PENDING_MAX = 500;

interface Renewal {
  secretKeyId: string;
  /** Hex. */
  hash: string;
}

export class HashRenewals {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #log: Log;
  #pending = new Map<string, Renewal>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, secrets: Secrets, log: Log) {
    this.#database = database;
    this.#secrets = secrets;
    this.#log = log;
  }

  /** Notes a used key whose hash was made with an older key of the ring. Costs nothing for all others. */
  note(key: Pick<ApiKey, 'id' | 'secretKeyId'>, text: string): void {
    if (this.#secrets.isNewest(key.secretKeyId) || this.#pending.has(key.id)) return;
    if (this.#pending.size >= PENDING_MAX) return;
    const { secretKeyId, hash } = this.#secrets.hash('api-key', text);
    this.#pending.set(key.id, { secretKeyId, hash: hash.toString('hex') });
  }

  /** Writes every few seconds from now on. */
  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  /**
   * Writes the noted hashes. Rows that another transaction has locked are left out, and noted again at their
   * next use. Never throws.
   */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const batch = JSON.stringify([...this.#pending].map(([id, renewal]) => ({ id, ...renewal })));
    this.#pending = new Map();
    try {
      await forkEm(this.#database).execute(sql`
        with renewed as (
          select id, "secretKeyId", decode(hash, 'hex') as hash
          from jsonb_to_recordset(${batch}::jsonb) as r (id text, "secretKeyId" text, hash text)
        ), due as (
          select k.id from api_key k join renewed r on r.id = k.id where k.secret_key_id <> r."secretKeyId"
          for update of k skip locked
        )
        update api_key k set secret_key_id = r."secretKeyId", hash = r.hash
        from renewed r join due using (id) where k.id = r.id`);
    } catch (error) {
      this.#log.warn({ err: error }, 'hashes of API keys could not be renewed');
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
