-- Adds amounts to what accounts and keys have reserved; `is_earmarked`: taken from their earmarks. A key that
-- is used on a new UTC day begins its day at zero. Call it with the counters locked and the amounts judged. Rows are
-- found by their key as `end_calls` finds its calls.
create or replace function set_aside(user_ids text[], key_ids text[], amounts bigint[], is_earmarked boolean)
returns void
language plpgsql as $$
begin
  update account a
  set reserved = a.reserved + t.amount, earmarked = a.earmarked - case when is_earmarked then t.amount else 0 end,
      updated_at = now()
  from (select i.user_id, sum(i.amount)::bigint as amount from unnest(user_ids, amounts) i (user_id, amount)
        group by i.user_id) t
  where a.user_id = any (array[t.user_id]);
  update key_spending s
  set reserved = s.reserved + t.amount, earmarked = s.earmarked - case when is_earmarked then t.amount else 0 end,
      day = greatest(s.day, t.today), day_used = case when s.day >= t.today then s.day_used else 0 end,
      day_reserved = t.amount + case when s.day >= t.today then s.day_reserved else 0 end
  from (select i.key_id, sum(i.amount)::bigint as amount, (clock_timestamp() at time zone 'utc')::date as today
        from unnest(key_ids, amounts) i (key_id, amount) group by i.key_id) t
  where s.key_id = any (array[t.key_id]);
end $$;
