-- Moves what accounts and keys count: each row is written once, however many moves it has. `amounts`: what
-- was reserved on the UTC day in `days`, and is free again; without a day what is set aside now, taken from
-- the earmarks if `is_earmarked`. `charges` and `losses` of those with a day: what leaves the balance, and
-- what the operator loses. The arrays of charges, losses and days may be shorter than the others, or null. A
-- key that is used on a new UTC day begins its day at zero. Call it with the counters locked, the amounts
-- judged, and the reservations ended by the rows that make it happen once. Rows are found by their key as
-- `complete_calls` finds its calls.
create or replace function move_counters(
  user_ids text[], key_ids text[], amounts bigint[], charges bigint[], losses bigint[], days date[],
  is_earmarked boolean
) returns void
language plpgsql as $$
declare
  today date := (clock_timestamp() at time zone 'utc')::date;
begin
  update account a
  set reserved = a.reserved + t.set_aside - t.released,
      earmarked = a.earmarked - case when is_earmarked then t.set_aside else 0 end,
      balance = a.balance - t.charge, total_charged = a.total_charged + t.charge,
      total_loss = a.total_loss + t.loss, sequence = a.sequence + t.transfers, updated_at = now()
  from (select i.user_id, coalesce(sum(i.amount) filter (where i.day is null), 0)::bigint as set_aside,
               coalesce(sum(i.amount) filter (where i.day is not null), 0)::bigint as released,
               coalesce(sum(i.charge), 0)::bigint as charge, coalesce(sum(i.loss), 0)::bigint as loss,
               count(*) filter (where i.charge > 0) as transfers
        from unnest(user_ids, amounts, charges, losses, days) i (user_id, amount, charge, loss, day)
        group by i.user_id) t
  where a.user_id = any (array[t.user_id]);
  -- What ends on another day than today counts in the key's day only if that is the day; it is rare, and
  -- summed then.
  update key_spending s
  set reserved = s.reserved + t.set_aside - t.released,
      earmarked = s.earmarked - case when is_earmarked then t.set_aside else 0 end, used = s.used + t.charge,
      day = case when t.is_used then greatest(s.day, today) else s.day end,
      day_used = case
        when t.is_used and s.day < today then 0
        when not t.is_todays then s.day_used
          + (select coalesce(sum(i.charge), 0)::bigint from unnest(key_ids, charges, days) i (key_id, charge, day)
             where i.key_id = s.key_id and i.day = s.day)
        when s.day = today then s.day_used + t.charge
        else s.day_used
      end,
      day_reserved = t.set_aside + case
        when t.is_used and s.day < today then 0
        when not t.is_todays then s.day_reserved
          - (select coalesce(sum(i.amount), 0)::bigint from unnest(key_ids, amounts, days) i (key_id, amount, day)
             where i.key_id = s.key_id and i.day = s.day)
        when s.day = today then s.day_reserved - t.released
        else s.day_reserved
      end
  from (select i.key_id, coalesce(sum(i.amount) filter (where i.day is null), 0)::bigint as set_aside,
               coalesce(sum(i.amount) filter (where i.day is not null), 0)::bigint as released,
               coalesce(sum(i.charge), 0)::bigint as charge, bool_or(i.day is null) as is_used,
               bool_and(i.day is null or i.day = today) as is_todays
        from unnest(key_ids, amounts, charges, days) i (key_id, amount, charge, day)
        group by i.key_id) t
  where s.key_id = any (array[t.key_id]);
end $$;
