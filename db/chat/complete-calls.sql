-- Completes the rows of many chat calls that have ended. Each is completed once. Answers one row: of the
-- calls that were open what their settlement needs, in arrays of one order, `places` being those in the
-- arrays that were given; nothing in them when none was open. A call that the sweeper settled as abandoned is
-- not among them; `settle_late_call` corrects it. Calls are found by their key, whatever the planner believes
-- of the table: neither by an index of open calls (hence `settled_at is null`), nor by blocks of settled
-- ones, nor by all of a table that was small when the plan was made. `= any (array[…])` rules the last out:
-- no order of the index is of use for it, so that reading all of the index is not considered. Call it with
-- the counters locked, from `move_calls`, whose settings its plan needs.
create or replace function complete_calls(
  call_ids text[], user_ids text[], transfer_ids text[], charges bigint[], losses bigint[], statuses text[],
  prompts integer[], completions integer[], bases text[], latencies integer[], upstream_request_ids text[],
  error_codes text[], error_messages text[], tries text[]
) returns table (
  places integer[], of_users text[], of_keys text[], amounts bigint[], charged bigint[], lost bigint[], days date[],
  transfers text[], calls text[], models text[], requests text[]
)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
    with ended as (
      update chat_call c
      set status = i.status, credits_charged = i.charge, loss = i.loss, prompt_tokens = i.prompt_tokens,
          completion_tokens = i.completion_tokens, billing_basis = i.basis, latency_ms = i.latency,
          upstream_request_id = i.upstream_request_id, error_code = i.error_code, error_message = i.error_message,
          tried = i.tried::jsonb, settled_at = now()
      from unnest(call_ids, user_ids, transfer_ids, charges, losses, statuses, prompts, completions, bases, latencies,
        upstream_request_ids, error_codes, error_messages, tries) with ordinality
        i (id, user_id, transfer_id, charge, loss, status, prompt_tokens, completion_tokens, basis, latency,
           upstream_request_id, error_code, error_message, tried, n)
      where c.user_id = any (array[i.user_id]) and c.id = any (array[i.id]) and c.settled_at is null
      returning i.n, i.transfer_id, c.*
    )
    select array_agg(e.n::integer), array_agg(e.user_id), array_agg(e.key_id), array_agg(e.credits_reserved),
      array_agg(e.credits_charged), array_agg(e.loss), array_agg(e.day), array_agg(e.transfer_id), array_agg(e.id),
      array_agg(e.model), array_agg(e.request_id)
    from ended e;
end $$;
