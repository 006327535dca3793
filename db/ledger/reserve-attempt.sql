-- Turns the earmark of a queued task into the reservation of its attempt, if user and key may still spend.
-- Answers `refusal` null and the amount when it is reserved, now or before; no row when the attempt has
-- ended.
create or replace function reserve_attempt(p_task_id text, p_attempt integer)
returns table (refusal text, amount bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  today date;
  wanted task;
begin
  select * into wanted from task
  where id = p_task_id and attempt = p_attempt and status in ('queued', 'in_progress') for update;
  if not found then
    return;
  end if;
  amount := wanted.credits_estimate;
  if wanted.admitted_at is null then
    perform lock_counters(array[wanted.user_id], array[wanted.key_id]);
    today := (clock_timestamp() at time zone 'utc')::date;
    select coalesce(
        spender_refusal(a, wanted.key_id, k, wanted.model),
        amount_refusal(a, s, today, wanted.credits_estimate, wanted.credits_estimate, true))
    into refusal
    from account a left join key_spending s on s.key_id = wanted.key_id left join api_key k on k.id = wanted.key_id
    where a.user_id = wanted.user_id;
    if refusal is null then
      perform move_counters(array[wanted.user_id], array[wanted.key_id], array[amount], null, null, null, true);
      insert into task_attempt (task_id, attempt, user_id, key_id, amount, day)
      select p_task_id, p_attempt, wanted.user_id, wanted.key_id, amount,
        coalesce((select s.day from key_spending s where s.key_id = wanted.key_id), (now() at time zone 'utc')::date);
      -- No reader sees this change, and without a new `updated_at` no index of the task is written.
      update task set admitted_at = now() where id = p_task_id;
      insert into task_event (task_id, attempt, event) values (p_task_id, p_attempt, 'reserved');
    end if;
  end if;
  return next;
end $$;
