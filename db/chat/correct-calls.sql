-- Corrects those chat calls that have ended and are not at the places `completed`: the sweeper had settled
-- them as abandoned, or they were settled before. Answers what each of all the calls was really charged, by
-- its place. Call it with the counters locked.
create or replace function correct_calls(
  completed integer[], call_ids text[], user_ids text[], transfer_ids text[], charges bigint[], losses bigint[],
  statuses text[], prompts integer[], completions integer[], bases text[], latencies integer[],
  upstream_request_ids text[], error_codes text[], error_messages text[], tries text[]
) returns table (n integer, charged bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  place integer;
begin
  for place in select i from generate_subscripts(call_ids, 1) i where i <> all (coalesce(completed, '{}')) loop
    perform settle_late_call(call_ids[place], user_ids[place], transfer_ids[place], charges[place], losses[place],
      statuses[place], prompts[place], completions[place], bases[place], latencies[place],
      upstream_request_ids[place], error_codes[place], error_messages[place], tries[place]);
  end loop;
  return query
    select i.n::integer, c.credits_charged
    from unnest(call_ids, user_ids) with ordinality i (id, user_id, n)
    join chat_call c on c.user_id = any (array[i.user_id]) and c.id = any (array[i.id]);
end $$;
