// A past of tasks, calls and transfers, made by few statements: as the ledger and its check want it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';
import { RARE_KEY_SHARE } from './models.ts';

/** Tasks and calls, each, that one statement adds: it stays far below the time-out of statements. */
const PER_STATEMENT = 2_000;
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

/** The alphabet of ids, and one of them: ten characters are the milliseconds, the others count. */
export const MAKE_ID = `
create or replace function bench_id(prefix text, at timestamptz, n bigint) returns text language sql immutable as $$
  select prefix || '_' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
    (((extract(epoch from at) * 1000)::bigint >> (5 * i)) & 31)::int + 1, 1), '' order by i desc)
    || upper(substr(md5(n::text), 1, 16))
  from generate_series(0, 9) i
$$`;

/** Adds as many tasks and as many calls of one user, evenly over a time that ends now. */
export async function addHistory(em: Em, user: PastUser, count: number, days: number): Promise<void> {
  for (let done = 0; done < count; done += PER_STATEMENT) {
    const more = Math.min(PER_STATEMENT, count - done);
    await em.execute(addPart(user, { done, more, count, seconds: days * 86_400 }));
  }
  await em.execute(sql`
    update key_spending k set used = s.used, day = s.day, day_used = s.day_used
    from (
      select key_id, sum(credits_charged) as used, max(day) as day,
             sum(credits_charged) filter (where day = last) as day_used
      from (select c.*, max(day) filter (where credits_charged > 0) over (partition by key_id) as last
            from chat_call c where user_id = ${user.userId}) c
      where credits_charged > 0 group by key_id
    ) s where k.key_id = s.key_id`);
}

/** Grants enough for any history; the first transfer of the account. */
export async function giveCredits(em: Em, userId: string, days: number): Promise<void> {
  await em.execute(sql`
    with held as (
      update account set balance = ${GRANTED}::bigint, total_granted = ${GRANTED}::bigint, sequence = 1
      where user_id = ${userId} returning *
    )
    insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
      idempotency_key, description, created_at)
    select user_id, 1, 'led_' || user_id, 'operator:grants', 'grant', balance, balance, 'bench:' || user_id, 'Bench',
           now() - make_interval(days => ${days + 1}) from held`);
}

/** One in twelve tasks fails, one in fifty is cancelled; one call in twenty fails and costs nothing. */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
function addPart(
  { userId, keyIds: [common, rare] }: PastUser,
  { done, more, count, seconds }: { done: number; more: number; count: number; seconds: number },
) {
  return sql`
    with moment as materialized (
      select n, now() - make_interval(secs => ${seconds} * (1 - n / ${count + 1}::float8)) as at,
             case when n % ${RARE_KEY_SHARE} = 0 then ${rare} else ${common} end as key_id,
             case when n % 1000 = 1 then 'rare-model' else 'model-' || n % 5 end as model
      from generate_series(${done + 1}::bigint, ${done + more}::bigint) n
    ), new_task as materialized (
      select bench_id('task', at, n) as id, case when n % 3 = 0 then 'video' else 'image' end as mode, m.*,
             case when n % 12 = 0 then 'failed' when n % 50 = 1 then 'cancelled' else 'completed' end as status
      from moment m
    ), new_call as materialized (
      select bench_id('call', at, n) as id, m.*, case when n % 20 = 0 then 'failed' else 'completed' end as status
      from moment m
    ), task_rows as (
      insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, status, progress, ordered,
        price, credits_estimate, credits_charged, request_payload, error_code, created_at, updated_at, completed_at,
        admitted_at)
      select id, ${userId}, null, mode, model, 'bench', 'bench', model, status, 100,
        ${ORDER}::jsonb || jsonb_build_object('mode', mode, 'images', (mode = 'image')::int, 'seconds', 4 * (mode = 'video')::int),
        '{"billingMode":"per_task","lines":[{"item":"image","meter":"tasks","credits":"4000000","free":0,"when":{}}]}', 4000000,
        case when status = 'completed' then 4000000 else 0 end, '{"prompt":"[masked]","model":"m"}',
        case when status = 'failed' then case when n % 600 = 0 then 'result_unavailable' else 'upstream_error' end end,
        at, at, at, at
      from new_task
    ), attempts as (
      insert into task_attempt (task_id, attempt, user_id, amount, state, charged, day, created_at, settled_at)
      select id, 1, ${userId}, 4000000, case when status = 'completed' then 'charged' else 'released' end,
        case when status = 'completed' then 4000000 end, (at at time zone 'utc')::date, at, at
      from new_task
    ), requests as (
      insert into task_request (task_id, secret_key_id, prompt) select id, 'gone', '\\x00'::bytea from new_task
    ), call_rows as (
      insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved, credits_charged,
        day, lease_until, prompt_tokens, completion_tokens, billing_basis, latency_ms, tried, error_code, created_at,
        settled_at)
      select ${userId}, id, key_id, 'r', model, true, status, 2000, case when status = 'completed' then 1500 else 0 end,
        (at at time zone 'utc')::date, at, 812, 230, 'upstream', 1204,
        '[{"family":"openai","credential":"0123abcd","outcome":"accepted"}]',
        case when status = 'failed' then case when n % 2000 = 0 then 'upstream_timeout' else 'upstream_error' end end,
        at, at
      from new_call
    ), charged as materialized (
      select row_number() over w as number, sum(charge) over w as sum, c.* from (
        select n, at, id as task_id, null as call_id, null as key_id, model, 4000000::bigint as charge from new_task
        where status = 'completed'
        union all
        select n, at, null, id, key_id, model, 1500 from new_call where status = 'completed'
      ) c window w as (order by n, task_id nulls first)
    ), transfers as (
      insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after, task_id,
        attempt, call_id, key_id, model, description, created_at)
      select a.user_id, a.sequence + c.number, 'led_' || a.user_id || a.sequence + c.number, 'operator:revenue', 'charge',
        -c.charge, a.balance - c.sum, c.task_id, case when c.task_id is not null then 1 end, c.call_id, c.key_id, c.model,
        'bench', c.at
      from charged c cross join account a where a.user_id = ${userId}
    )
    update account a set sequence = a.sequence + c.number, balance = a.balance - c.sum,
      total_charged = a.total_charged + c.sum
    from (select max(number) as number, max(sum) as sum from charged) c where a.user_id = ${userId}`;
}
