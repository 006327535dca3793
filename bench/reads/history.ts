// A past of tasks, calls and transfers: samples that the product made, repeated for users over time.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';
import type { Secrets } from '../../db/secrets.ts';
import { copyRows, withoutIndexes } from './bulk.ts';
import { COMMON_MODELS, RARE_KEY_SHARE, RARE_MODEL } from './models.ts';
import type { Samples } from './samples.ts';

/** In micro-credits, for each user. */
const GRANTED = 1_000_000_000_000_000n;
const TABLES = [
  ...['task', 'task_request', 'task_event', 'submission', 'task_attempt', 'chat_call', 'ledger_transfer'],
];
const PROMPTS_PER_STATEMENT = 10_000;

export interface PastUser {
  userId: string;
  /** Used by most calls, and by few. */
  keyIds: readonly [common: string, rare: string];
}

/**
 * An id as the product makes them: ten characters are the milliseconds, the others count. The users stand in
 * a table of their own, the one with the tenth of everything as number 0.
 */
const PREPARATION = `
create or replace function bench_id(prefix text, at timestamptz, n bigint) returns text language sql immutable as $$
  select prefix || '_' || ${Array.from({ length: 10 }, (_, place) => `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> ${45 - 5 * place}) & 31)::int + 1, 1)`).join(' || ')}
    || upper(substr(md5(n::text), 1, 16))
  from (select (extract(epoch from at) * 1000)::bigint as ms) t
$$;
create table bench_user (number bigint primary key, user_id text not null, common text not null, rare text not null);
set synchronous_commit = off;
set work_mem = '256MB'`;

/** Makes empty transactions: the check of the ledger walks tasks by the transaction of their change. */
const TASKS_PER_TRANSACTION = 10;
const beTransactions = (count: number): string => `
do $$ begin
  for each in 1..${count} loop perform pg_current_xact_id(); commit; end loop;
end $$`;

/** Grants each user enough for any history, before it begins: the first transfer of the account. */
export async function prepareHistory(em: Em, users: readonly PastUser[], beganAt: Date): Promise<void> {
  await em.execute(PREPARATION);
  const rows = users.map(({ userId, keyIds }, number) => ({
    number,
    userId,
    common: keyIds[0],
    rare: keyIds[1],
  }));
  await em.execute(sql`
    insert into bench_user (number, user_id, common, rare)
    select number, "userId", common, rare
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) u (number bigint, "userId" text, common text, rare text)`);
  await em.execute(sql`
    with held as (
      update account set balance = ${GRANTED}::bigint, total_granted = ${GRANTED}::bigint, sequence = 1
      where user_id in (select user_id from bench_user) returning *
    )
    insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
      idempotency_key, description, created_at)
    select user_id, 1, 'led_' || user_id, 'operator:grants', 'grant', balance, balance, 'bench:' || user_id, 'Bench',
           ${beganAt.toISOString()}::timestamptz from held`);
}

/** So many tasks, and as many calls, that are spread evenly over a period. */
export interface HistorySize {
  tasks: number;
  users: number;
  from: Date;
  to: Date;
}

/**
 * Adds a task and a call for each number, oldest first, as they would have come: one in ten is of the first
 * user. One in twelve tasks fails, one in fifty is cancelled; one call in twenty fails and costs nothing.
 * Half of the tasks are ordered without a key. All rows of a task or call are copies of those that the
 * product wrote for its sample; their money is a chain for each account, like the product's.
 */
export async function addHistory(em: Em, samples: Samples, size: HistorySize): Promise<void> {
  await planHistory(em, samples, size);
  await em.execute(beTransactions(Math.ceil(size.tasks / TASKS_PER_TRANSACTION) + 1));
  await withoutIndexes(em, TABLES, async () => {
    await copyTasks(em);
    await copyCalls(em);
    await addCharges(em);
  });
}

/** Who orders what and when: `shift` is by how much it is earlier than its sample. */
async function planHistory(em: Em, { tasks, calls }: Samples, size: HistorySize): Promise<void> {
  const stepSeconds = (size.to.getTime() - size.from.getTime()) / 1000 / size.tasks;
  await em.execute(sql`
    create unlogged table bench_moment as
    select n, at, u.user_id, k, case when k % ${RARE_KEY_SHARE} = 0 then u.rare else u.common end as key_id,
           case when k % 1000 = 1 then ${RARE_MODEL} else 'model-' || k % ${COMMON_MODELS} end as model
    from (
      select n, ${size.from.toISOString()}::timestamptz + make_interval(secs => ${stepSeconds}::float8 * n) as at,
             case when n % 10 = 0 then 0 else 1 + (n - n / 10) % ${size.users - 1} end as number,
             case when n % 10 = 0 then n / 10 else (n - n / 10) / ${size.users - 1} end as k
      from generate_series(1, ${size.tasks}::bigint) n
    ) m join bench_user u using (number)`);
  await em.execute(sql`
    create unlogged table bench_task as
    select m.n, m.at, m.user_id, m.k, m.model, t.id as sample, t.credits_charged as charge, m.at - t.completed_at as shift,
           bench_id('task', t.created_at + (m.at - t.completed_at), n) as id,
           case when k % 2 = 0 then m.key_id end as key_id,
           ((a.created_at + (m.at - t.completed_at)) at time zone 'utc')::date as day
    from bench_moment m
    join task t on t.id = case when k % 12 = 0 then ${tasks.failed} when k % 50 = 1 then ${tasks.cancelled}
                               when k % 3 = 0 then ${tasks.video} else ${tasks.image} end
    join task_attempt a on a.task_id = t.id`);
  await em.execute(sql`
    create unlogged table bench_call as
    select m.n, m.at, m.user_id, m.k, m.model, c.id as sample, c.credits_charged as charge, m.at - c.settled_at as shift,
           bench_id('call', c.created_at + (m.at - c.settled_at), n) as id, m.key_id,
           ((c.created_at + (m.at - c.settled_at)) at time zone 'utc')::date as day
    from bench_moment m
    join chat_call c on c.id = case when k % 20 = 0 then ${calls.failed} else ${calls.answered} end`);
  await em.execute(`analyze bench_task; analyze bench_call`);
}

const OWNER = { user_id: 'm.user_id', key_id: 'm.key_id' };

async function copyTasks(em: Em): Promise<void> {
  const plan = 'bench_task';
  const ofTask = { of: 'task_id', plan };
  await copyRows(em, {
    ...{ table: 'task', of: 'id', plan },
    changes: {
      ...OWNER,
      id: 'm.id',
      model: 'm.model',
      outputs: `replace(p.outputs::text, p.id, m.id)::jsonb`,
      error_code: `case when p.status = 'failed' and m.k % 600 = 0 then 'result_unavailable' else p.error_code end`,
      changed_xid: `((select pg_current_xact_id()::text::bigint - max(n) / ${TASKS_PER_TRANSACTION} from bench_task)
        + (m.n - 1) / ${TASKS_PER_TRANSACTION})::text::xid8`,
    },
  });
  await copyRows(em, { ...ofTask, table: 'task_request', changes: { task_id: 'm.id' } });
  await copyRows(em, { ...ofTask, table: 'task_event', changes: { task_id: 'm.id' } });
  await copyRows(em, {
    ...{ ...ofTask, table: 'submission' },
    changes: {
      task_id: 'm.id',
      handle: `case when p.handle ->> 'id' is null then p.handle else jsonb_set(p.handle, '{id}', to_jsonb(m.id)) end`,
      outputs: `replace(p.outputs::text, p.task_id, m.id)::jsonb`,
    },
  });
  await copyRows(em, {
    ...{ ...ofTask, table: 'task_attempt' },
    changes: { ...OWNER, task_id: 'm.id', day: 'm.day' },
  });
}

async function copyCalls(em: Em): Promise<void> {
  await copyRows(em, {
    ...{ table: 'chat_call', of: 'id', plan: 'bench_call' },
    changes: {
      ...{ ...OWNER, id: 'm.id', model: 'm.model', day: 'm.day' },
      error_code: `case when p.status = 'failed' and m.k % 2000 = 0 then 'upstream_timeout' else p.error_code end`,
    },
  });
}

/** The transfers of what was charged, the next of each account, and the counters that go with them. */
async function addCharges(em: Em): Promise<void> {
  await em.execute(`
    create unlogged table bench_charge as
    select row_number() over w as number, sum(charge) over w as sum, c.* from (
      select n, at, user_id, key_id, model, day, sample, charge, shift, id as task_id, null as call_id from bench_task
      where charge > 0
      union all
      select n, at, user_id, key_id, model, day, sample, charge, shift, null, id from bench_call where charge > 0
    ) c window w as (partition by user_id order by at, n, task_id nulls first)`);
  const changes = {
    account_id: 'm.user_id',
    sequence: '1 + m.number',
    id: `'led_' || m.user_id || '_' || m.number`,
    balance_after: `${GRANTED} - m.sum`,
    ...{ key_id: 'm.key_id', model: 'm.model', task_id: 'm.task_id', call_id: 'm.call_id' },
  };
  const of = 'coalesce(task_id, call_id)';
  await copyRows(em, { table: 'ledger_transfer', of, plan: 'bench_charge', changes });
  await em.execute(`
    update key_spending k set used = s.used, day = s.day, day_used = s.day_used
    from (
      select key_id, last as day, sum(charge) as used, sum(charge) filter (where day = last) as day_used
      from (select *, max(day) over (partition by key_id) as last from bench_charge where key_id is not null) c
      group by key_id, last
    ) s where k.key_id = s.key_id;
    update account a set sequence = a.sequence + c.number, balance = a.balance - c.sum, total_charged = c.sum
    from (select user_id, max(number) as number, max(sum) as sum from bench_charge group by user_id) c
    where a.user_id = c.user_id`);
}

/** Encrypts the prompts of a user's tasks anew, since each is sealed for its task. */
export async function sealPrompts(em: Em, secrets: Secrets, userId: string): Promise<void> {
  for (let after = ''; ;) {
    const ids = await em.execute<{ id: string }[]>(sql`
      select id from task where user_id = ${userId} and id > ${after} order by id limit ${PROMPTS_PER_STATEMENT}`);
    const rows = ids.map(({ id }) => {
      const { secretKeyId, bytes } = secrets.seal('request', `${id}:prompt`, 'a sample');
      return { id, key: secretKeyId, prompt: Buffer.from(bytes).toString('base64') };
    });
    await em.execute(sql`
      update task_request q set secret_key_id = r.key, prompt = decode(r.prompt, 'base64')
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (id text, key text, prompt text) where q.task_id = r.id`);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
