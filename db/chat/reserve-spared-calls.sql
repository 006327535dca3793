-- Reserves credits for many chat calls at once, each the amount that `spare_amounts` chooses from its least to its
-- most. Answers, by place in the arrays, the refused calls with what their account had free then, and the
-- reserved ones that got less than their most, without a refusal and with what they got.
create or replace function reserve_spared_calls(
  call_ids text[], user_ids text[], key_ids text[], request_ids text[], models text[], streams boolean[],
  leasts bigint[], mosts bigint[], lease_seconds integer
) returns table (n integer, refusal text, amount bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  amounts bigint[] := leasts;
begin
  if leasts <> mosts then
    perform lock_counters(user_ids, key_ids);
    amounts := spare_amounts(user_ids, key_ids, leasts, mosts);
  end if;
  return query
    with refused as materialized (
      select r.n, r.refusal, r.available
      from reserve_calls(call_ids, user_ids, key_ids, request_ids, models, streams, amounts, lease_seconds) r
    )
    select r.n, r.refusal, r.available from refused r
    union all
    select i.n::integer, null, i.amount
    from unnest(amounts, mosts) with ordinality i (amount, most, n)
    where i.amount < i.most and not exists (select from refused r where r.n = i.n);
end $$;
