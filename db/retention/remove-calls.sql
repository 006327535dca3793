-- Removes at most `p_limit` calls from before `p_before` that are over and in the sums of usage, of the next
-- `p_accounts` accounts after `p_after`: none that is younger than its floor. `p_before_id` is the smallest
-- id of that moment. What they lost is added to the account's sum. Answers how many went, how many accounts
-- were looked at, and the last of these.
create or replace function remove_calls(
  p_after text, p_accounts integer, p_before timestamptz, p_before_id text, p_limit integer
) returns table (removed integer, seen integer, last text)
language plpgsql as $$
#variable_conflict use_column
declare
  bound timestamptz;
begin
  select least(p_before, now() - kept) into strict bound from retention_floor where subject = 'call';
  return query
    with holder as materialized (
      select user_id from account where user_id > p_after order by user_id limit p_accounts
    ), due as materialized (
      select c.* from holder h cross join lateral (
        select c.user_id, c.id from chat_call c
        where c.user_id = h.user_id and c.id < p_before_id and c.created_at < bound
          and c.settled_at < (select until from usage_watermark)
        order by c.id limit p_limit
      ) c limit p_limit
    ), gone as (
      delete from chat_call c using due d where c.user_id = d.user_id and c.id = d.id returning c.user_id, c.loss
    ), summed as (
      insert into removed_call as r (user_id, calls, loss)
      select user_id, count(*), sum(loss) from gone group by user_id
      on conflict (user_id) do update set calls = r.calls + excluded.calls, loss = r.loss + excluded.loss
    ), counted as (
      update retention r set removed = r.removed + (select count(*) from gone) where r.subject = 'call'
    )
    select (select count(*) from due)::integer, (select count(*) from holder)::integer,
           (select max(user_id) from holder);
end $$;
