// Earmarks: the estimates of queued tasks, and the counts of a user's open tasks, in the rows that decide.
import { Migration } from '@mikro-orm/migrations';

export class Migration011Earmarks extends Migration {
  override up(): void {
    this.addSql(COLUMNS);
    this.addSql(BACKFILL);
    this.addSql(CONSTRAINT);
    this.addSql(RESERVE_CALLS);
  }
}

const COLUMNS = `
alter table account
  add column earmarked bigint not null default 0 check (earmarked >= 0),
  add column queued integer not null default 0 check (queued >= 0),
  add column running integer not null default 0 check (running >= 0);
alter table api_key add column earmarked bigint not null default 0 check (earmarked >= 0);
`;

const BACKFILL = `
update account a set earmarked = t.earmarked, queued = t.queued, running = t.running
from (
  select user_id, count(*) filter (where status = 'queued') as queued,
         count(*) filter (where status = 'in_progress') as running,
         coalesce(sum(credits_estimate) filter (where status = 'queued' and admitted_at is null), 0) as earmarked
  from task where status in ('queued', 'in_progress') group by user_id
) t where a.user_id = t.user_id;
update api_key k set earmarked = t.earmarked
from (
  select key_id, sum(credits_estimate) as earmarked from task
  where status = 'queued' and admitted_at is null and key_id is not null group by key_id
) t where k.id = t.key_id;
`;

/** What is earmarked can neither be reserved by a chat call nor earmarked twice. */
const CONSTRAINT = `
alter table account add constraint account_earmarked_fits check (balance - reserved - earmarked >= 0);
`;

/**
 * The plan is made once per connection, perhaps while the tables are empty, and has to be right when they are
 * large: by indexes, row by row. What is joined otherwise has at most as many rows as a batch has items.
 */
const PLANNED_ONCE = `set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off`;

/** The function of migration 005, which now counts earmarks of account and key as taken. */
const RESERVE_CALLS = `
create or replace function reserve_calls(items jsonb, lease_seconds integer)
returns table (n integer, verdict text, available bigint)
language plpgsql ${PLANNED_ONCE} as $$
#variable_conflict use_column
begin
  return query
  with item as (
    select i.* from jsonb_to_recordset(items) as i (
      n integer, id text, user_id text, key_id text, model text, stream boolean, amount bigint, request_id text)
  ), holder as (
    select a.user_id, a.balance, a.reserved, a.earmarked, a.balance - a.reserved - a.earmarked as available,
           a.frozen_at, u.disabled_at
    from account a join app_user u on u.id = a.user_id
    where a.user_id in (select user_id from item)
    order by a.user_id for update of a for share of u
  ), spender as (
    select k.* from api_key k
    where k.id in (select key_id from item) and exists (select from holder)
    order by k.id for update
  ), clock as (
    select (now() at time zone 'utc')::date as today
  ), spending as (
    select s.*, greatest(c.today, s.day) as new_day,
           case when s.day >= c.today then s.day_used else 0 end as used_today,
           case when s.day >= c.today then s.day_reserved else 0 end as reserved_today
    from spender s cross join clock c
  ), allowed as (
    select i.*, h.available, s.used, s.reserved, s.quota, s.daily_budget, s.new_day, s.used_today,
      s.reserved_today, s.earmarked,
      case
        when h.disabled_at is not null or h.frozen_at is not null then 'account_disabled'
        when s.id is null or s.revoked_at is not null then 'invalid_api_key'
        when s.expires_at <= now() then 'expired_api_key'
        when not i.model = any(s.model_scope) then 'model_not_allowed'
      end as refusal
    from item i join holder h using (user_id) left join spending s on s.id = i.key_id
  ), summed as (
    select *, sum(case when refusal is null then amount else 0 end) over (partition by user_id order by n) as of_account,
              sum(case when refusal is null then amount else 0 end) over (partition by key_id order by n) as of_key
    from allowed
  ), fitting as (
    select *, refusal is null and of_account <= available
      and (quota is null or used + reserved + earmarked + of_key <= quota)
      and (daily_budget is null or used_today + reserved_today + earmarked + of_key <= daily_budget) as fits
    from summed
  ), taken as (
    select *, sum(case when fits then amount else 0 end) over (partition by user_id) as account_takes,
              sum(case when fits then amount else 0 end) over (partition by key_id) as key_takes
    from fitting
  ), judged as (
    select *, case
      when fits then 'reserved'
      when refusal is not null then refusal
      when used + reserved + earmarked + key_takes + amount > quota then 'key_quota_exceeded'
      when used_today + reserved_today + earmarked + key_takes + amount > daily_budget then 'daily_budget_exceeded'
      when account_takes + amount > available then 'insufficient_credits'
      else 'again' end as word
    from taken
  ), funded as (
    -- from the locked row: constraints are checked on the row as this statement first saw it, credits may have come since
    update account a set balance = h.balance, reserved = h.reserved + t.amount, earmarked = h.earmarked, updated_at = now()
    from (select user_id, sum(amount)::bigint as amount from judged where fits group by user_id) t
    join holder h using (user_id)
    where a.user_id = t.user_id
  ), limited as (
    update api_key k
    set reserved = k.reserved + t.amount, day = t.new_day, day_used = t.used_today, day_reserved = t.reserved_today + t.amount
    from (
      select key_id, new_day, used_today, reserved_today, sum(amount)::bigint as amount from judged where fits
      group by key_id, new_day, used_today, reserved_today
    ) t where k.id = t.key_id
  ), inserted as (
    insert into reservation (id, user_id, key_id, amount, day, request_id, model, stream, lease_until)
    select id, user_id, key_id, amount, new_day, request_id, model, stream, now() + make_interval(secs => lease_seconds)
    from judged where fits
  )
  select j.n, j.word, (j.available - j.account_takes)::bigint from judged j;
end $$;
`;
