// Usage that happens along a clock of its own, in the past, and what its rows alone say about it.
import { sql } from '@mikro-orm/postgresql';
import { forkEm, type Database, type Em } from '../../db/database.ts';
import { makeId } from '../../db/ids.ts';
import { refundOnce, grantOnce } from './credits.ts';
import { addEnds, addTransfers, spanQuarters } from '../../db/usage/rollup.ts';
import type { UsageRequest } from '../../db/usage/summary.ts';
import { orderOf } from './orders.ts';
import * as rows from './rows.ts';
import { addPastCall, addPastVideo } from './usage.ts';

export type Happening =
  | {
      kind: 'call' | 'free call' | 'abandoned call' | 'video' | 'failed task';
      user: number;
      key: number;
      model: number;
      /** Until it happens. */
      minutes: number;
    }
  | { kind: 'retry' | 'correction' | 'refund' | 'grant'; user: number }
  | { kind: 'carry' | 'carry transfers' | 'carry twice at once'; minutes: number };

type Request = Omit<UsageRequest, 'families' | 'rowsMax'>;

const MINUTE_MS = 60_000;
const USERS = 3;
/** The same in every run; some days later the clocks of America change from summer to winter. */
const BEGAN_AT = '2025-10-20T09:41:07Z';
const GRANTED = 1_000_000_000n;
/** Charges of any size: the sums are exact in each digit. */
const CHARGES = [1, 999_999, 7_654_321];

export class PastUsage {
  readonly #database: Database;
  readonly userIds: readonly string[];
  readonly beganAt = new Date(BEGAN_AT);
  #now = this.beganAt.getTime();
  #count = 0;

  private constructor(database: Database, userIds: readonly string[]) {
    this.#database = database;
    this.userIds = userIds;
  }

  static async create(database: Database): Promise<PastUsage> {
    const em = forkEm(database);
    await em.execute(
      `truncate usage_rollup, usage_span, usage_comparison, usage_mark, chat_call, task cascade`,
    );
    await em.execute(`update usage_watermark set until = '-infinity'`);
    await em.transactional(async (tx) => {
      await tx.execute('set local session_replication_role = replica');
      await tx.execute('delete from ledger_transfer');
      await tx.execute('delete from task_attempt');
      await tx.execute('update account set sequence = 0');
    });
    const userIds: string[] = [];
    for (let user = 0; user < USERS; user += 1) userIds.push(await rows.createOwner(em, GRANTED));
    return new PastUsage(database, userIds);
  }

  userAt(place: number): string {
    return this.userIds[place] ?? '';
  }

  minutesIn(minutes: number): Date {
    return new Date(this.beganAt.getTime() + minutes * MINUTE_MS);
  }

  async happen(happening: Happening): Promise<void> {
    const em = forkEm(this.#database);
    this.#count += 1;
    if ('minutes' in happening) this.#now += happening.minutes * MINUTE_MS + 1;
    const now = new Date(this.#now);
    switch (happening.kind) {
      case 'carry':
        await carryTransfers(em);
        await addEnds(em, now, Infinity);
        await spanQuarters(em);
        return;
      case 'carry transfers':
        return carryTransfers(em);
      case 'carry twice at once': {
        const ends = () => addEnds(forkEm(this.#database), now, Infinity);
        await Promise.all([carryTransfers(forkEm(this.#database)), carryTransfers(em), ends(), ends()]);
        return;
      }
      case 'grant':
        await grantOnce(em, { userId: this.userAt(happening.user), ...this.#move() });
        return;
      case 'refund':
        return this.#refund(em, this.userAt(happening.user));
      case 'retry':
        return retryFailed(em, this.userAt(happening.user));
      case 'correction':
        return correctAbandoned(em, this.userAt(happening.user));
      default:
        return this.#add(em, happening, now);
    }
  }

  async #add(
    em: Em,
    { kind, user, key, model }: Extract<Happening, { key: number }>,
    now: Date,
  ): Promise<void> {
    const at = now.toISOString();
    const userId = this.userAt(user);
    const past = {
      userId,
      at,
      keyId: `key_${key}`,
      model: `model ${model}`,
      charge: CHARGES[model] ?? 1,
      loss: key,
    };
    if (kind === 'video') return addPastVideo(em, past);
    if (kind === 'call') return addPastCall(em, past);
    if (kind === 'failed task')
      return void (await em.execute(sql`
        insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, status, ordered, price,
          credits_estimate, request_payload, created_at, completed_at)
        values (${makeId('task', this.#now)}, ${userId}, ${past.keyId}, 'image', ${past.model}, 'f', 'a', 'u', 'failed',
          ${JSON.stringify(orderOf({ mode: 'image', images: 1 }))}, '{}', 1, '{}', ${at}, ${at})`));
    const isAbandoned = kind === 'abandoned call';
    await em.execute(sql`
      insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved, day, lease_until,
        billing_basis, latency_ms, tried, created_at, settled_at, is_abandoned)
      values (${userId}, ${makeId('call', this.#now)}, ${past.keyId}, 'r', ${past.model}, false,
        ${isAbandoned ? 'failed' : 'cancelled'}, 1000, ${at}, ${at}, 'none', 1, '[]', ${at}, ${at}, ${isAbandoned})`);
  }

  #move() {
    return { amount: 1_000n, idempotencyKey: `move:${this.userAt(0)}:${this.#count}`, description: 'Test' };
  }

  async #refund(em: Em, userId: string): Promise<void> {
    const [row] = await em.execute<{ id: string }[]>(sql`
      select task_id as id from task_attempt where user_id = ${userId} and charged > refunded order by task_id limit 1`);
    if (row) await refundOnce(em, { taskId: row.id, attempt: 1, ...this.#move(), amount: 1n });
  }

  /** The rows of a summary as texts, from the tables alone. */
  async readFromRows({ userId, from, to, interval, timezone, group }: Request): Promise<string[]> {
    const column = { none: null, model: 'model', key: 'key_id', kind: 'kind', user: 'user_id', family: null }[
      group
    ];
    const own = userId === null ? sql`true` : sql`user_id = ${userId}`;
    const found = await forkEm(this.#database).execute<{ start: string; text: string }[]>(sql`
      with usage as (
        select l.account_id as user_id, l.created_at as at, l.key_id, l.model, coalesce(t.mode, 'chat') as kind,
               -l.amount as credits, 0 as tasks, 0 as calls, 0 as failed, 0 as tokens, 0 as completion, 0 as images,
               0 as seconds, 0 as loss
        from ledger_transfer l left join task t on t.id = l.task_id where l.kind not in ('grant', 'redeem', 'adjustment')
        union all
        select user_id, settled_at, key_id, model, 'chat', 0, 0, 1, (status = 'failed')::int, coalesce(prompt_tokens, 0),
               coalesce(completion_tokens, 0), 0, 0, loss from chat_call where settled_at is not null
        union all
        select user_id, completed_at, key_id, model, mode, 0, 1, 0, (status = 'failed')::int, 0, 0, 0,
               case when mode = 'video' then 4 else 0 end, 0 from task where completed_at is not null
        union all
        select a.user_id, a.settled_at, a.key_id, t.model, t.mode, 0, 0, 0, 0, 0, 0, 0, 0, a.loss
        from task_attempt a join task t on t.id = a.task_id
      )
      select date_trunc(${interval}, at, ${timezone}) as start,
             concat_ws(' ', coalesce(${column === null ? sql`null::text` : sql.ref(column)}, ''), sum(credits), sum(tasks), sum(calls),
               sum(failed), sum(tokens), sum(completion), sum(images), sum(seconds), sum(loss)) as text
      from usage where ${own} and at >= ${from.toISOString()} and at < ${to === null ? 'infinity' : to.toISOString()}
      group by 1, ${column === null ? sql`2 * 0` : sql.ref(column)}
      having sum(credits) <> 0 or sum(tasks) > 0 or sum(calls) > 0 or sum(loss) > 0
      order by 1, ${column === null ? sql`1` : sql.ref(column)} nulls last`);
    return found.map(({ start, text }) => `${new Date(start).toISOString()} ${text}`);
  }
}

async function carryTransfers(em: Em): Promise<void> {
  for (let after: string | null = ''; after !== null;) after = await addTransfers(em, after);
}

/** As a retry does it (`db/tasks/new-tasks.ts`). */
async function retryFailed(em: Em, userId: string): Promise<void> {
  await em.execute(sql`
    update task set status = 'queued', attempt = attempt + 1, key_id = null, completed_at = null
    where id = (select id from task where user_id = ${userId} and status = 'failed' order by id limit 1)`);
}

/** As the process does it that was believed dead. */
async function correctAbandoned(em: Em, userId: string): Promise<void> {
  await em.execute(sql`
    select settle_late_call(id, user_id, ${makeId('led')}, 700, 3, 'completed', 11, 12, 'upstream', 1, null, null, null, '[]')
    from (select id, user_id from chat_call where user_id = ${userId} and is_abandoned order by id limit 1) c`);
}
