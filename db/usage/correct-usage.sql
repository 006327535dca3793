-- Changes the sums of usage by what a task or call, which ended at `p_at`, was counted wrongly: the sums if
-- they have it already, else nothing, since carrying them forward will find its row as it is. Call it in the
-- transaction that changes the row: the lock makes it wait for a carrying forward, and that one for this
-- transaction.
create or replace function correct_usage(
  p_at timestamptz, p_user_id text, p_key_id text, p_kind text, p_model text, p_family text, p_tasks integer,
  p_failed integer, p_prompt_tokens integer, p_completion_tokens integer, p_loss bigint
) returns void
language plpgsql as $$
declare
  mark timestamptz;
begin
  select until into mark from usage_watermark for share;
  if mark > p_at then
    insert into usage_rollup as r (user_id, bucket, key_id, kind, model, family, tasks, failed, prompt_tokens,
      completion_tokens, loss)
    select i.user_id, date_bin('15 minutes', p_at, 'epoch'), i.key_id, p_kind, p_model, p_family, p_tasks, p_failed,
      p_prompt_tokens, p_completion_tokens, p_loss
    from (values ('', ''), (p_user_id, coalesce(p_key_id, ''))) i (user_id, key_id)
    on conflict (user_id, bucket, key_id, kind, model, family) do update
    set tasks = r.tasks + excluded.tasks, failed = r.failed + excluded.failed,
        prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = r.completion_tokens + excluded.completion_tokens, loss = r.loss + excluded.loss;
  end if;
end $$;
