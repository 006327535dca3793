-- Says whether all these chat calls are allowed and get their most, together and without a judgement of each:
-- then they have what `spare_amounts` would choose, and `begin_calls` would refuse none. Of calls with a
-- choice, that is where half of the account's credits, and of what their key may spend, leaves three times as
-- much free. What calls that end in the same statement give back is not counted, so the answer may be no
-- where it could be yes. Call it with the counters locked, from `move_calls`, whose settings its plan needs.
create or replace function may_all_begin(
  user_ids text[], key_ids text[], models text[], leasts bigint[], mosts bigint[]
) returns boolean
language plpgsql as $$
declare
  today date := (clock_timestamp() at time zone 'utc')::date;
begin
  return not exists (
    select from (
      select i.user_id, i.key_id, i.model, max(i.most) filter (where i.least < i.most) as choice,
             (sum(sum(i.most)) over (partition by i.user_id))::bigint as of_account,
             (sum(sum(i.most)) over (partition by i.key_id))::bigint as of_key
      from unnest(user_ids, key_ids, models, leasts, mosts) i (user_id, key_id, model, least, most)
      group by i.user_id, i.key_id, i.model
    ) i left join account a on a.user_id = any (array[i.user_id])
    left join key_spending s on s.key_id = any (array[i.key_id]) left join api_key k on k.id = any (array[i.key_id])
    where coalesce(spender_refusal(a, i.key_id, k, i.model), amount_refusal(a, s, today, i.of_account, i.of_key, false))
        is not null
      or spare_room(a, s, today, i.of_account, i.of_key) < 3 * i.choice);
end $$;
