// When keys were last used: collected in memory and written together, so that no request waits for it.
import { sql } from '@mikro-orm/postgresql';
import type { Log } from '../../log.ts';
import type { ApiKey } from '../entities/identity.ts';
import { forkEm, type Database } from '../database.ts';

const FLUSH_EVERY_MS = 5_000;
/** The last use of a key is written at most this often. */
const STEP_MS = 60_000;

export class LastUses {
  readonly #database: Database;
  readonly #log: Log;
  #pending = new Map<string, Date>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  /** Records a use in memory, unless one of the last minute is in the database already. */
  record(key: Pick<ApiKey, 'id' | 'lastUsedAt'>, at: Date = new Date()): void {
    if (key.lastUsedAt && at.getTime() - key.lastUsedAt.getTime() < STEP_MS) return;
    this.#pending.set(key.id, at);
  }

  /** Writes every few seconds from now on. */
  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  /** Writes what was recorded. What could not be written waits for the next time. Never throws. */
  async flush(): Promise<void> {
    const uses = this.#pending;
    if (uses.size === 0) return;
    this.#pending = new Map();
    try {
      for (const id of await this.#write(uses)) this.#recordAgain(id, uses.get(id));
    } catch (error) {
      for (const [id, at] of uses) this.#recordAgain(id, at);
      this.#log.warn({ err: error }, 'the last uses of keys could not be written');
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /**
   * Answers the keys that another transaction has locked. They are left out rather than waited for: while
   * waiting, this statement would hold up changes of all other keys.
   */
  async #write(uses: ReadonlyMap<string, Date>): Promise<string[]> {
    const batch = JSON.stringify([...uses].map(([id, at]) => ({ id, at })));
    const isDue = () =>
      sql`(k.last_used_at is null or k.last_used_at <= u.at - ${STEP_MS} * interval '1 millisecond')`;
    const held = await forkEm(this.#database).execute<{ id: string }[]>(sql`
      with used as (
        select id, at from jsonb_to_recordset(${batch}::jsonb) as u (id text, at timestamptz)
      ), due as (
        select k.id, u.at from api_key k join used u on u.id = k.id where ${isDue()}
        for update of k skip locked
      ), written as (
        update api_key k set last_used_at = d.at from due d where k.id = d.id
      )
      select k.id from api_key k join used u on u.id = k.id where ${isDue()} and k.id not in (select id from due)`);
    return held.map(({ id }) => id);
  }

  #recordAgain(id: string, at: Date | undefined): void {
    if (at && !this.#pending.has(id)) this.#pending.set(id, at);
  }
}
