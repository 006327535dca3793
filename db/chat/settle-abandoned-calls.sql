-- Settles calls whose lease is over because their process died: charges what was known to be delivered and
-- returns the rest. The lease is asked for again under the locks, so that a renewal in between counts.
-- Settles as many as there are `transfer_ids` at most; `only_id`: no other call than this, or null. Answers
-- how many were settled.
create or replace function settle_abandoned_calls(transfer_ids text[], only_id text) returns integer
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set enable_bitmapscan = off set random_page_cost = 0.1 as $$
declare
  call_ids text[];
  user_ids text[];
  key_ids text[];
  settled integer;
begin
  select array_agg(c.id), array_agg(c.user_id), array_agg(c.key_id) into call_ids, user_ids, key_ids
  from (select id, user_id, key_id from chat_call
        where status = 'open' and lease_until < now() and (only_id is null or id = only_id)
        order by lease_until limit cardinality(transfer_ids)) c;
  if call_ids is null then
    return 0;
  end if;
  perform lock_counters(user_ids, key_ids);
  with ended as (
    update chat_call c
    set status = 'failed', credits_charged = c.known_charge, is_abandoned = true, settled_at = now(),
        billing_basis = case when c.known_charge > 0 then 'estimated' else 'none' end,
        latency_ms = least(extract(epoch from c.lease_until - c.created_at) * 1000, 2147483647)::integer,
        error_code = 'internal_error', error_message = 'The call broke off on our side.', tried = '[]'
    from unnest(call_ids, user_ids, transfer_ids) i (id, user_id, transfer_id)
    where c.user_id = any (array[i.user_id]) and c.id = any (array[i.id]) and c.settled_at is null and c.lease_until < clock_timestamp()
    returning i.transfer_id, c.*
  ), moved as (
    select settle_reservations(array_agg(e.user_id), array_agg(e.key_id), array_agg(e.credits_reserved),
      array_agg(e.credits_charged), array_agg(e.loss), array_agg(e.day), array_agg(e.transfer_id), null, null,
      array_agg(e.id), array_agg(e.model), array_agg(e.request_id), array_agg('chat'::text), null),
      count(*)::integer as calls
    from ended e
  )
  select m.calls into settled from moved m;
  return settled;
end $$;
