-- Reserves credits for chat calls of which some may be refused, and writes the rows of the others. Each is
-- decided as if the calls before it had come before it. An account whose calls are all allowed and fit
-- together is decided as a whole; the calls of the others are judged one by one, so that a refusal costs
-- no one else. Those at the places `taken` are left out, since another request has their idempotency key.
-- Answers these and the refused calls, by their place in the arrays, and what their account had free then;
-- the others are reserved. Call it with the counters locked, from `move_calls`, whose settings its plans
-- need.
create or replace function begin_calls(
  call_ids text[], user_ids text[], key_ids text[], request_ids text[], models text[], streams boolean[],
  amounts bigint[], lease_seconds integer, taken integer[]
) returns table (n integer, refusal text, available bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  today date := (clock_timestamp() at time zone 'utc')::date;
  doubtful text[];
  refused integer[] := taken;
  item record;
begin
  doubtful := array(
    select i.user_id from (
      select i.user_id, i.key_id, i.model, (sum(sum(i.amount)) over (partition by i.user_id))::bigint as of_account,
             (sum(sum(i.amount)) over (partition by i.key_id))::bigint as of_key
      from unnest(user_ids, key_ids, models, amounts) with ordinality i (user_id, key_id, model, amount, n)
      where i.n <> all (taken)
      group by i.user_id, i.key_id, i.model
    ) i left join account a on a.user_id = i.user_id left join key_spending s on s.key_id = i.key_id
    left join api_key k on k.id = i.key_id
    where coalesce(spender_refusal(a, i.key_id, k, i.model), amount_refusal(a, s, today, i.of_account, i.of_key, false))
      is not null);
  perform move_counters(array_agg(i.user_id), array_agg(i.key_id), array_agg(i.amount), null, null, null, false)
  from unnest(user_ids, key_ids, amounts) with ordinality i (user_id, key_id, amount, n)
  where i.user_id <> all (doubtful) and i.n <> all (taken);
  for item in
    select i.* from unnest(user_ids, key_ids, models, amounts) with ordinality i (user_id, key_id, model, amount, n)
    where i.user_id = any (doubtful) and i.n <> all (taken) order by i.n
  loop
    select coalesce(spender_refusal(a, item.key_id, k, item.model),
             amount_refusal(a, s, today, item.amount, item.amount, false)),
           coalesce(a.balance - a.reserved - a.earmarked, 0)
    into refusal, available
    from unnest(array[item.user_id]) i (user_id) left join account a on a.user_id = i.user_id
    left join key_spending s on s.key_id = item.key_id left join api_key k on k.id = item.key_id;
    if refusal is null then
      perform move_counters(array[item.user_id], array[item.key_id], array[item.amount], null, null, null, false);
    else
      n := item.n;
      refused := refused || n;
      return next;
    end if;
  end loop;
  return query select i, 'idempotency_key_taken', 0::bigint from unnest(taken) i;
  perform open_calls(call_ids, user_ids, key_ids, request_ids, models, streams, amounts, lease_seconds, refused);
end $$;
