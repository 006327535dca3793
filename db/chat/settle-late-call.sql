-- Corrects a call that the sweeper settled as abandoned although its process lived: the record shows what
-- really happened, and what was delivered beyond the first charge is charged by one more transfer if the
-- account and the key still cover it, else it is the operator's loss. Any other call stays as it is. Happens
-- once.
create or replace function settle_late_call(
  p_id text, p_user_id text, p_transfer_id text, p_charge bigint, p_loss bigint, p_status text,
  p_prompt_tokens integer, p_completion_tokens integer, p_basis text, p_latency integer, p_upstream_request_id text,
  p_error_code text, p_error_message text, p_tried text
) returns void
language plpgsql as $$
declare
  today date;
  call chat_call;
  owing bigint;
  taken bigint;
begin
  select * into call from chat_call where user_id = p_user_id and id = p_id and is_abandoned for update;
  if not found then
    return;
  end if;
  today := (clock_timestamp() at time zone 'utc')::date;
  owing := greatest(least(p_charge, call.credits_reserved) - call.credits_charged, 0);
  select case when amount_refusal(a, s, today, owing, owing, false) is null then owing else 0 end into taken
  from account a left join key_spending s on s.key_id = call.key_id where a.user_id = p_user_id;
  update chat_call c
  set status = p_status, credits_charged = c.credits_charged + taken, loss = c.loss + p_loss + owing - taken,
      prompt_tokens = p_prompt_tokens, completion_tokens = p_completion_tokens, billing_basis = p_basis,
      latency_ms = p_latency, upstream_request_id = p_upstream_request_id, error_code = p_error_code,
      error_message = p_error_message, tried = p_tried::jsonb, is_abandoned = false
  where c.user_id = p_user_id and c.id = p_id;
  perform correct_usage(
    call.settled_at, p_user_id, call.key_id, 'chat', call.model, '', 0,
    (p_status = 'failed')::integer - (call.status = 'failed')::integer,
    coalesce(p_prompt_tokens, 0) - coalesce(call.prompt_tokens, 0),
    coalesce(p_completion_tokens, 0) - coalesce(call.completion_tokens, 0), p_loss + owing - taken);
  perform settle_reservations(
    array[call.user_id], array[call.key_id], array[0::bigint], array[taken], array[p_loss + owing - taken],
    array[call.day], array[p_transfer_id], null, null, array[call.id], array[call.model], array[call.request_id],
    array['chat, settled late'], array['late:' || call.id]);
end $$;
