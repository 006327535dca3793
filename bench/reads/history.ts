// A past of tasks, calls and transfers, made by few statements: as the ledger and its check want it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';
import { COMMON_MODELS, RARE_KEY_SHARE, RARE_MODEL } from './models.ts';

/** What an order has beside its mode and its quantities. */
const ORDER = JSON.stringify({
  ...{ resolution: '1K', ratio: null, audio: null, inputImages: 0, imageRole: 'none', inputVideos: 0 },
  ...{ inputVideoSeconds: 0, videoTokens: 0, promptTokens: 0, outputTokens: 0 },
  ...{ responseFormat: 'url', seed: null, quality: null },
});
const GRANTED = 1_000_000_000_000n;

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
create or replace function bench_id(prefix text, ms bigint, n bigint) returns text language sql immutable as $$
  select prefix || '_' || ${Array.from({ length: 10 }, (_, place) => `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> ${45 - 5 * place}) & 31)::int + 1, 1)`).join(' || ')}
    || upper(substr(md5(n::text), 1, 16))
$$;
create table bench_user (number bigint primary key, user_id text not null, common text not null, rare text not null);
set synchronous_commit = off`;

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

/** A part of a history: its first and last number, of `count` that are spread evenly over a period. */
export interface HistoryPart {
  first: number;
  last: number;
  count: number;
  from: Date;
  to: Date;
}

/**
 * Adds a task and a call for each number of the part, oldest first, as they would have come: one in ten is of
 * the first user. One in twelve tasks fails, one in fifty is cancelled; one call in twenty fails and costs
 * nothing. Half of the tasks are ordered without a key.
 */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
export async function addHistory(em: Em, users: number, part: HistoryPart): Promise<void> {
  const { first, last, count, from, to } = part;
  const stepSeconds = (to.getTime() - from.getTime()) / 1000 / count;
  await em.execute(sql`
    with numbered as materialized (
      select n, ${from.toISOString()}::timestamptz + make_interval(secs => ${stepSeconds}::float8 * n) as at,
             case when n % 10 = 0 then 0 else 1 + (n - n / 10) % ${users - 1} end as number,
             case when n % 10 = 0 then n / 10 else (n - n / 10) / ${users - 1} end as k
      from generate_series(${first}::bigint, ${last}::bigint) n
    ), moment as materialized (
      select m.n, m.at, (extract(epoch from m.at) * 1000)::bigint as ms, u.user_id, m.k,
             case when k % ${RARE_KEY_SHARE} = 0 then u.rare else u.common end as key_id,
             case when k % 1000 = 1 then ${RARE_MODEL} else 'model-' || k % ${COMMON_MODELS} end as model
      from numbered m join bench_user u using (number)
    ), new_task as materialized (
      select bench_id('task', ms, n) as id, case when k % 3 = 0 then 'video' else 'image' end as mode, n, at, user_id,
             model, k, case when k % 2 = 0 then key_id end as key_id,
             case when k % 12 = 0 then 'failed' when k % 50 = 1 then 'cancelled' else 'completed' end as status
      from moment
    ), new_call as materialized (
      select bench_id('call', ms, n) as id, n, at, user_id, key_id, model, k,
             case when k % 20 = 0 then 'failed' else 'completed' end as status
      from moment
    ), task_rows as (
      insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, status, progress, ordered,
        price, credits_estimate, credits_charged, request_payload, error_code, created_at, updated_at, completed_at,
        admitted_at)
      select id, user_id, key_id, mode, model, 'bench', 'bench', model, status, 100,
        ${ORDER}::jsonb || jsonb_build_object('mode', mode, 'images', (mode = 'image')::int, 'seconds', 4 * (mode = 'video')::int),
        '{"billingMode":"per_task","lines":[{"item":"image","meter":"tasks","credits":"4000000","free":0,"when":{}}]}', 4000000,
        case when status = 'completed' then 4000000 else 0 end, '{"prompt":"[masked]","model":"m"}',
        case when status = 'failed' then case when k % 600 = 0 then 'result_unavailable' else 'upstream_error' end end,
        at, at, at, at
      from new_task
    ), attempts as (
      insert into task_attempt (task_id, attempt, user_id, key_id, amount, state, charged, day, created_at, settled_at)
      select id, 1, user_id, key_id, 4000000, case when status = 'completed' then 'charged' else 'released' end,
        case when status = 'completed' then 4000000 end, (at at time zone 'utc')::date, at, at
      from new_task
    ), requests as (
      insert into task_request (task_id, secret_key_id, prompt) select id, 'gone', '\\x00'::bytea from new_task
    ), call_rows as (
      insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved, credits_charged,
        day, lease_until, prompt_tokens, completion_tokens, billing_basis, latency_ms, tried, error_code, created_at,
        settled_at)
      select user_id, id, key_id, 'r', model, true, status, 2000, case when status = 'completed' then 1500 else 0 end,
        (at at time zone 'utc')::date, at, 812, 230, 'upstream', 1204,
        '[{"family":"openai","credential":"0123abcd","outcome":"accepted"}]',
        case when status = 'failed' then case when k % 2000 = 0 then 'upstream_timeout' else 'upstream_error' end end,
        at, at
      from new_call
    ), charged as materialized (
      select row_number() over w as number, sum(charge) over w as sum, c.*, (c.at at time zone 'utc')::date as day from (
        select n, at, user_id, id as task_id, null as call_id, key_id, model, 4000000::bigint as charge from new_task
        where status = 'completed'
        union all
        select n, at, user_id, null, id, key_id, model, 1500 from new_call where status = 'completed'
      ) c window w as (partition by user_id order by n, task_id nulls first)
    ), transfers as (
      insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after, task_id,
        attempt, call_id, key_id, model, description, created_at)
      select a.user_id, a.sequence + c.number, 'led_' || a.user_id || a.sequence + c.number, 'operator:revenue', 'charge',
        -c.charge, a.balance - c.sum, c.task_id, case when c.task_id is not null then 1 end, c.call_id, c.key_id, c.model,
        'bench', c.at
      from charged c join account a using (user_id) order by c.n
    ), spent as (
      update key_spending k set used = k.used + s.charged, day = s.day,
        day_used = s.day_charged + case when k.day = s.day then k.day_used else 0 end
      from (
        select key_id, last as day, sum(charge) as charged, sum(charge) filter (where day = last) as day_charged
        from (select *, max(day) over (partition by key_id) as last from charged where key_id is not null) c
        group by key_id, last
      ) s where k.key_id = s.key_id
    )
    update account a set sequence = a.sequence + c.number, balance = a.balance - c.sum,
      total_charged = a.total_charged + c.sum
    from (select user_id, max(number) as number, max(sum) as sum from charged group by user_id) c
    where a.user_id = c.user_id`);
}
