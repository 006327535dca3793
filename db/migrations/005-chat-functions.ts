// The PL/pgSQL functions by which db/chat/chat-ledger.ts reserves and settles chat calls.

/**
 * The plan is made once per connection, perhaps while the tables are empty, and has to be right when they are
 * large: by indexes, row by row. What is joined otherwise has at most as many rows as a batch has items.
 */
const PLANNED_ONCE = `set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off`;

/**
 * Sets credits aside for many calls at once, decided in order. The rows that decide are locked first,
 * accounts and then keys, each in the order of ids, as everywhere. `again`: refused only because of an
 * earlier item of the same batch that was refused itself; asked once more, it is decided. A function, because
 * its plan is kept: planning would cost more than the work.
 */
export const RESERVE_CALLS = `
create function reserve_calls(items jsonb, lease_seconds integer)
returns table (n integer, verdict text, available bigint)
language plpgsql ${PLANNED_ONCE} as $$
#variable_conflict use_column
begin
  return query
  with item as (
    select i.* from jsonb_to_recordset(items) as i (
      n integer, id text, user_id text, key_id text, model text, stream boolean, amount bigint, request_id text)
  ), holder as (
    select a.user_id, a.balance, a.reserved, a.balance - a.reserved as available, a.frozen_at, u.disabled_at
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
    select i.*, h.available, s.used, s.reserved, s.quota, s.daily_budget, s.new_day, s.used_today, s.reserved_today,
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
      and (quota is null or used + reserved + of_key <= quota)
      and (daily_budget is null or used_today + reserved_today + of_key <= daily_budget) as fits
    from summed
  ), taken as (
    select *, sum(case when fits then amount else 0 end) over (partition by user_id) as account_takes,
              sum(case when fits then amount else 0 end) over (partition by key_id) as key_takes
    from fitting
  ), judged as (
    select *, case
      when fits then 'reserved'
      when refusal is not null then refusal
      when used + reserved + key_takes + amount > quota then 'key_quota_exceeded'
      when used_today + reserved_today + key_takes + amount > daily_budget then 'daily_budget_exceeded'
      when account_takes + amount > available then 'insufficient_credits'
      else 'again' end as word
    from taken
  ), funded as (
    -- from the locked row: constraints are checked on the row as this statement first saw it, credits may have come since
    update account a set balance = h.balance, reserved = h.reserved + t.amount, updated_at = now()
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

/**
 * Settles many calls at once: what is charged becomes a ledger transaction, the rest returns, the call is
 * recorded. Answers the reservations that were settled now; those settled before stay as they are.
 */
export const SETTLE_CALLS = `
create function settle_calls(items jsonb) returns table (id text)
language plpgsql ${PLANNED_ONCE} as $$
#variable_conflict use_column
begin
  return query
  with item as (
    select i.* from jsonb_to_recordset(items) as i (
      n integer, id text, call_id text, transaction_id text, entry_id text, counter_entry_id text,
      charged bigint, loss bigint, status text, prompt_tokens integer, completion_tokens integer, billing_basis text,
      latency_ms integer, upstream_request_id text, error_code text, error_message text, tried jsonb)
  ), holder as (
    select a.user_id from account a
    where a.user_id in (select r.user_id from reservation r join item i on i.id = r.id)
    order by a.user_id for update
  ), settled as (
    update reservation r
    set state = case when i.charged > 0 then 'charged' else 'released' end,
        charged = case when i.charged > 0 then i.charged end, loss = i.loss, settled_at = now()
    from item i
    -- written so that no index but that of ids fits: the others are full of what was open once
    where r.id = i.id and coalesce(r.state, '') = 'open' and coalesce(r.task_id, '') = '' and exists (select from holder)
    returning r.id, r.user_id, r.key_id, r.amount, r.day, r.request_id, r.model, r.stream, i.n, i.charged, i.call_id,
      i.transaction_id, i.entry_id, i.counter_entry_id, i.status, i.prompt_tokens, i.completion_tokens, i.billing_basis,
      i.latency_ms, i.upstream_request_id, i.error_code, i.error_message, i.tried
  ), of_account as (
    select user_id, sum(amount)::bigint as amount, sum(charged)::bigint as charged,
           count(*) filter (where charged > 0) as charges
    from settled group by user_id
  ), debited as (
    update account a
    set reserved = a.reserved - t.amount, balance = a.balance - t.charged, total_charged = a.total_charged + t.charged,
        sequence = a.sequence + t.charges, updated_at = now()
    from of_account t where a.user_id = t.user_id
    returning a.user_id, a.balance + t.charged as balance_before, a.sequence - t.charges as sequence_before
  ), of_key as (
    select s.key_id, sum(s.amount)::bigint as amount, sum(s.charged)::bigint as charged,
           sum(case when k.day = s.day then s.amount else 0 end)::bigint as day_amount,
           sum(case when k.day = s.day then s.charged else 0 end)::bigint as day_charged
    from settled s join debited using (user_id) join (
      select k.id, k.day from api_key k where k.id in (select key_id from settled) order by k.id for update
    ) k on k.id = s.key_id
    group by s.key_id
  ), spent as (
    update api_key k
    set reserved = k.reserved - t.amount, used = k.used + t.charged,
        day_reserved = k.day_reserved - t.day_amount, day_used = k.day_used + t.day_charged
    from of_key t where k.id = t.key_id
  ), charge as (
    select s.*, d.sequence_before + row_number() over mine as account_sequence,
           d.balance_before - sum(s.charged) over mine as balance_after
    from settled s join debited d using (user_id)
    where s.charged > 0
    window mine as (partition by s.user_id order by s.n rows unbounded preceding)
  ), txn as (
    insert into ledger_transaction (id, kind, idempotency_key, reservation_id, request_id, key_id, model, description)
    select transaction_id, 'charge', 'charge:' || id, id, request_id, key_id, model, 'chat' from charge
  ), entries as (
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select v.* from charge c, lateral (values
      (c.entry_id, c.transaction_id, c.user_id, -c.charged, c.account_sequence, c.balance_after::bigint),
      (c.counter_entry_id, c.transaction_id, 'operator:revenue', c.charged, null, null)
    ) v
  ), recorded as (
    insert into chat_call (id, reservation_id, request_id, upstream_request_id, user_id, key_id, model, stream, status,
      prompt_tokens, completion_tokens, credits_reserved, credits_charged, billing_basis, latency_ms, error_code,
      error_message, tried)
    select call_id, id, request_id, upstream_request_id, user_id, key_id, model, stream, status, prompt_tokens,
      completion_tokens, amount, charged, billing_basis, latency_ms, error_code, error_message, coalesce(tried, '[]')
    from settled
  )
  select s.id from settled s;
end $$;
`;
