-- Begins work on a reserved task if fewer than the allowed number of the user's tasks run, and if user and
-- key may still spend: a key may have been revoked while the task waited. Answers the status that the attempt
-- has afterwards (`queued`: no slot is free; null: there is no such attempt), or why it may not begin.
create or replace function begin_task(p_task_id text, p_attempt integer, running_tasks_max integer)
returns table (status text, refusal text)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  wanted task;
begin
  select * into wanted from task where id = p_task_id and attempt = p_attempt for update;
  status := wanted.status;
  if status = 'queued' and wanted.admitted_at is not null then
    perform lock_counters(array[wanted.user_id], array[wanted.key_id]);
    select spender_refusal(a, wanted.key_id, k, wanted.model) into refusal
    from account a left join api_key k on k.id = wanted.key_id where a.user_id = wanted.user_id;
    if refusal is null then
      update account a set queued = a.queued - 1, running = a.running + 1, updated_at = now()
      where a.user_id = wanted.user_id and a.running < running_tasks_max;
      if found then
        status := 'in_progress';
        update task t set status = 'in_progress', started_at = now(), updated_at = now() where t.id = p_task_id;
        insert into task_event (task_id, attempt, event) values (p_task_id, p_attempt, 'started');
      end if;
    end if;
  end if;
  return next;
end $$;
