-- Records that a task ended, and what is to be delivered because of it, in the transaction of its end. For
-- users without such a webhook it is one look into an index. The row of the task is kept as it is now: a
-- retry changes it.
create or replace function record_task_event(p_task_id text, p_user_id text, p_status text) returns void
language plpgsql as $$
declare
  p_event_id text;
begin
  if not exists (
    select from webhook_endpoint e
    where e.user_id = p_user_id and e.disabled_at is null and 'task.' || p_status = any (e.events)
  ) then
    return;
  end if;
  p_event_id := make_id('evt');
  insert into webhook_event (id, user_id, type, task_id, task)
  select p_event_id, p_user_id, 'task.' || p_status, t.id, to_jsonb(t) - 'request_payload'
  from task t where t.id = p_task_id;
  insert into webhook_delivery (id, event_id, endpoint_id, user_id)
  select make_id('dlv'), p_event_id, e.id, e.user_id from webhook_endpoint e
  where e.user_id = p_user_id and e.disabled_at is null and 'task.' || p_status = any (e.events);
end $$;
