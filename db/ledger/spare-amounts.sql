-- Chooses how much each chat call or text task sets aside, from its least to its most, as if those before it
-- had: more than the least only while less than half of the account's credits is taken, and at most a quarter
-- of what is left of that half. The quota and the daily budget of a key, if there is one, count alike. So one
-- long answer finds room, many at once leave each other what they need, and half of the credits stays free
-- for other work. Those of all keys of an account in the one order in which they are judged then: more than
-- the least is chosen only where it fits, so that a refused one needs more than there is. Call it with the
-- counters locked, or what it says is an estimate.
create or replace function spare_amounts(
  user_ids text[], key_ids text[], leasts bigint[], mosts bigint[]
) returns bigint[]
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  chosen bigint[] := mosts;
  today date := (clock_timestamp() at time zone 'utc')::date;
  doubtful text[];
  holder text := '';
  of_account bigint := 0;
  of_keys bigint[];
  of_key bigint;
  item record;
begin
  -- Whose calls do not all get their most; of the others nothing has to be computed one by one.
  doubtful := array(
    select i.user_id from (
      select i.user_id, i.key_id, max(i.most) as most, sum(i.most)::bigint as of_key,
             (sum(sum(i.most)) over (partition by i.user_id))::bigint as of_account
      from unnest(user_ids, key_ids, mosts) i (user_id, key_id, most) group by i.user_id, i.key_id
    ) i join account a on a.user_id = any (array[i.user_id]) left join key_spending s on s.key_id = i.key_id
    where spare_room(a, s, today, i.of_account, i.of_key) < 3 * i.most);
  if doubtful = '{}' then return chosen; end if;
  for item in
    select i.user_id, i.least, i.most, i.n, dense_rank() over (partition by i.user_id order by i.key_id) as key,
      a.balance / 2 - a.reserved - a.earmarked as account_half,
      least(
        (s.quota - s.used) / 2 - s.reserved,
        case when s.day >= today then (s.daily_budget - s.day_used) / 2 - s.day_reserved else s.daily_budget / 2 end
      ) - s.earmarked as key_half
    from unnest(user_ids, key_ids, leasts, mosts) with ordinality i (user_id, key_id, least, most, n)
    join account a on a.user_id = any (array[i.user_id]) left join key_spending s on s.key_id = i.key_id
    where i.user_id = any (doubtful) order by i.user_id, i.n
  loop
    if item.user_id <> holder then
      holder := item.user_id;
      of_account := 0;
      of_keys := '{}';
    end if;
    of_key := coalesce(of_keys[item.key], 0);
    chosen[item.n] := least(item.most, greatest(item.least,
      least(item.account_half - of_account, item.key_half - of_key) / 4));
    of_account := of_account + chosen[item.n];
    of_keys[item.key] := of_key + chosen[item.n];
  end loop;
  return chosen;
end $$;
