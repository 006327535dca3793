-- Ends an attempt: final status, its place in the account's counts, and its credits, all or nothing. What was
-- reserved is charged when it completed and released otherwise; an earmark returns. The first end stands:
-- answers the status that the attempt has afterwards, null when there is no such task. An earlier attempt has
-- failed, since only failed tasks are tried again; a null attempt is the newest. `only_unreserved`: leaves a
-- task alone for which credits were reserved.
create or replace function end_task(
  p_task_id text, p_attempt integer, p_status text, p_outputs jsonb, p_output_text text, p_charge bigint,
  p_loss bigint, p_error_code text, p_error_message text, p_transfer_id text, only_unreserved boolean
) returns text
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  ending task;
  held task_attempt;
begin
  select * into ending from task where id = p_task_id for update;
  if ending.attempt <> p_attempt then
    return 'failed';
  end if;
  if ending.id is null or ending.status not in ('queued', 'in_progress')
     or (p_status = 'completed' and ending.status <> 'in_progress')
     or (only_unreserved and ending.admitted_at is not null) then
    return ending.status;
  end if;
  perform lock_counters(array[ending.user_id], array[ending.key_id]);
  update account a
  set queued = a.queued - (ending.status = 'queued')::int, running = a.running - (ending.status = 'in_progress')::int,
      earmarked = a.earmarked - case when ending.admitted_at is null then ending.credits_estimate else 0 end,
      updated_at = now()
  where a.user_id = ending.user_id;
  if ending.admitted_at is null then
    update key_spending s set earmarked = s.earmarked - ending.credits_estimate where s.key_id = ending.key_id;
  else
    update task_attempt t
    set state = case when p_status = 'completed' then 'charged' else 'released' end,
        charged = case when p_status = 'completed' then p_charge end, loss = p_loss, settled_at = now()
    where t.task_id = p_task_id and t.attempt = ending.attempt and t.state = 'open'
    returning t.* into held;
    if not found then
      raise exception 'task % has no open reservation', p_task_id;
    end if;
    perform settle_reservations(
      array[held.user_id], array[held.key_id], array[held.amount], array[coalesce(held.charged, 0)], array[held.loss],
      array[held.day], array[p_transfer_id], array[p_task_id], array[held.attempt], null, array[ending.model],
      array[ending.request_id], array[ending.mode || ' task'], null);
  end if;
  update task t
  set status = p_status, completed_at = now(), updated_at = now(),
      progress = case when p_status = 'completed' then 100 else t.progress end,
      outputs = coalesce(p_outputs, t.outputs), output_text = coalesce(p_output_text, t.output_text),
      credits_charged = coalesce(held.charged, 0), error_code = p_error_code, error_message = p_error_message
  where t.id = p_task_id;
  insert into task_event (task_id, attempt, event, detail)
  values (p_task_id, ending.attempt, p_status, case when p_status = 'failed' then p_error_code end);
  perform record_task_event(p_task_id, ending.user_id, p_status);
  return p_status;
end $$;
