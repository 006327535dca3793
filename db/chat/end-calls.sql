-- Settles many chat calls at once: charges them, returns the rest of what was reserved, completes their rows. A
-- call is settled once; one that the sweeper settled as abandoned is corrected by `settle_late_call`. Answers
-- what was really charged, by place in the arrays, for all calls if one of them was not open; else nothing:
-- then every call was charged what the arrays say. Calls are found by their key, whatever the planner believes of
-- the table: neither by an index of open calls (hence `settled_at is null`), nor by blocks of settled ones, nor by
-- all of a table that was small when the plan was made. `= any (array[…])` rules the last out: no order of the index
-- is of use for it, so that reading all of the index is not considered. Call it with the counters locked, from
-- `move_calls`, whose settings its plans need.
create or replace function end_calls(
  call_ids text[], user_ids text[], key_ids text[], transfer_ids text[], charges bigint[], losses bigint[],
  statuses text[], prompts integer[], completions integer[], bases text[], latencies integer[],
  upstream_request_ids text[], error_codes text[], error_messages text[], tries text[]
) returns table (n integer, charged bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  settled integer[];
  place integer;
begin
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
  ), moved as (
    select settle_reservations(array_agg(e.user_id), array_agg(e.key_id), array_agg(e.credits_reserved),
      array_agg(e.credits_charged), array_agg(e.loss), array_agg(e.day), array_agg(e.transfer_id), null, null,
      array_agg(e.id), array_agg(e.model), array_agg(e.request_id), array_agg('chat'::text), null),
      array_agg(e.n::integer) as places
    from ended e
  )
  select coalesce(m.places, '{}') into settled from moved m;
  if cardinality(settled) < cardinality(call_ids) then
    for place in select i from generate_subscripts(call_ids, 1) i where i <> all (settled) loop
      perform settle_late_call(call_ids[place], user_ids[place], transfer_ids[place], charges[place], losses[place],
        statuses[place], prompts[place], completions[place], bases[place], latencies[place],
        upstream_request_ids[place], error_codes[place], error_messages[place], tries[place]);
    end loop;
    return query
      select i.n::integer, c.credits_charged
      from unnest(call_ids, user_ids) with ordinality i (id, user_id, n)
      join chat_call c on c.user_id = i.user_id and c.id = i.id;
  end if;
end $$;
