-- Settles the first calls and then reserves for the others, in one statement: what has just been returned to an
-- account is there for its next call, and both share one lock and one flush to disk. Answers what
-- `settle_calls` and `reserve_spared_calls` answer; `is_reservation` tells which arrays `n` is a place in.
create or replace function settle_and_reserve_calls(
  ended_ids text[], ended_user_ids text[], ended_key_ids text[], transfer_ids text[], charges bigint[],
  losses bigint[], statuses text[], prompts integer[], completions integer[], bases text[], latencies integer[],
  upstream_request_ids text[], error_codes text[], error_messages text[], tries text[],
  call_ids text[], user_ids text[], key_ids text[], request_ids text[], models text[], streams boolean[],
  leasts bigint[], mosts bigint[], lease_seconds integer
) returns table (is_reservation boolean, n integer, refusal text, amount bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform lock_counters(ended_user_ids || user_ids, ended_key_ids || key_ids);
  return query
    select false, s.n, null::text, s.charged
    from settle_calls(ended_ids, ended_user_ids, ended_key_ids, transfer_ids, charges, losses, statuses, prompts,
      completions, bases, latencies, upstream_request_ids, error_codes, error_messages, tries) s;
  return query
    select true, r.n, r.refusal, r.amount
    from reserve_spared_calls(call_ids, user_ids, key_ids, request_ids, models, streams, leasts, mosts,
      lease_seconds) r;
end $$;
