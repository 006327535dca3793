-- Decides whether a task may enter the queue, and earmarks its estimate on account and key if it may. Answers
-- why not, and what the account has free; `refusal` is null when it was earmarked.
create or replace function earmark(
  p_user_id text, p_key_id text, p_model text, p_amount bigint, waiting_tasks_max integer
) returns table (refusal text, free bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  today date;
begin
  perform lock_counters(array[p_user_id], array[p_key_id]);
  today := (clock_timestamp() at time zone 'utc')::date;
  select coalesce(
      spender_refusal(a, p_key_id, k, p_model), amount_refusal(a, s, today, p_amount, p_amount, false),
      case when a.queued >= waiting_tasks_max then 'queue_full' end),
    a.balance - a.reserved - a.earmarked
  into refusal, free
  from account a left join key_spending s on s.key_id = p_key_id left join api_key k on k.id = p_key_id
  where a.user_id = p_user_id;
  if not found then
    return;
  end if;
  if refusal is null then
    update account a set earmarked = a.earmarked + p_amount, queued = a.queued + 1, updated_at = now()
    where a.user_id = p_user_id;
    update key_spending s set earmarked = s.earmarked + p_amount where s.key_id = p_key_id;
  end if;
  return next;
end $$;
