-- Removes the attempts of these tasks that moved no credits, where the task ended before `p_before`: none
-- that is younger than its floor. Attempts that were charged or lost something stay: transfers name them.
create or replace function remove_attempts(p_task_ids text[], p_before timestamptz) returns void
language plpgsql as $$
declare
  bound timestamptz;
begin
  select least(p_before, now() - kept) into strict bound from retention_floor where subject = 'task';
  delete from task_attempt a using task t
  where t.id = any(p_task_ids) and t.completed_at < bound and a.task_id = t.id and a.state = 'released' and a.loss = 0;
end $$;
