-- Makes final that chat calls charged nothing whose idempotency keys repeats have just taken over
-- (`claim_keys`): one of them may have been settled as abandoned while its process only slept, and its own
-- end would charge it after all. Where that end came first, its key is given back, and the repeat is to be
-- refused. Answers `taken`, the places whose keys other requests have, and the places of these. Call it from
-- `move_calls` with the counters locked.
create or replace function give_up_undone_calls(claims jsonb, user_ids text[], taken integer[]) returns integer[]
language plpgsql as $$
declare
  claim record;
  call chat_call;
begin
  for claim in
    select c.* from jsonb_to_recordset(claims) c (n integer, id text, undone_id text)
    where c.undone_id is not null and c.n <> all (taken)
  loop
    select * into call from chat_call
    where user_id = user_ids[claim.n] and id = claim.undone_id and settled_at is not null for update;
    if call.credits_charged > 0 then
      update idempotency_key set subject_id = call.id, leased_until = now() where id = claim.id;
      taken := taken || claim.n;
    elsif call.is_abandoned then
      update chat_call set is_abandoned = false where user_id = call.user_id and id = call.id;
    end if;
  end loop;
  return taken;
end $$;
