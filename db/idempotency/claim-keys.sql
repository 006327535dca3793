-- Claims the idempotency keys of chat calls in the statement that reserves for them. `claims`: an array with, for
-- each, the place `n` of its call, the `id` of its row, `method`, `path`, `key_hash` and `fingerprint` (both in
-- hexadecimal), and `undone_id`, the call of an earlier request whose effect was undone; its row is taken over, as
-- one is whose time is over. Answers the places of the calls whose keys other requests have taken. Call it before
-- the counters are locked, which is the order of all transactions with a key. A request of another transaction
-- that has claimed the same key is waited for; in the order of the index, so that two never wait for each other.
create or replace function claim_keys(
  claims jsonb, call_ids text[], user_ids text[], lease_seconds integer, kept_hours integer
) returns integer[]
language plpgsql as $$
declare
  claimed text[];
begin
  with wanted as (
    select distinct on (user_id, c.method, c.path, key_hash)
      c.id, user_ids[c.n] as user_id, c.method, c.path, decode(c.key_hash, 'hex') as key_hash,
      decode(c.fingerprint, 'hex') as fingerprint, call_ids[c.n] as subject_id, c.undone_id
    from jsonb_to_recordset(claims) c (n integer, id text, method text, path text, key_hash text, fingerprint text,
      undone_id text)
    order by user_id, c.method, c.path, key_hash, c.n
  ), written as (
    insert into idempotency_key as k (id, user_id, method, path, key_hash, fingerprint, subject_id, leased_until)
    select w.id, w.user_id, w.method, w.path, w.key_hash, w.fingerprint, w.subject_id,
      now() + make_interval(secs => lease_seconds)
    from wanted w
    on conflict (user_id, method, path, key_hash) do update
    set id = excluded.id, fingerprint = excluded.fingerprint, subject_id = excluded.subject_id, answer = null,
        answer_secret_key_id = null, created_at = excluded.created_at, leased_until = excluded.leased_until
    where k.created_at <= now() - make_interval(hours => kept_hours)
       or (k.answer is null and k.subject_id = (select w.undone_id from wanted w where w.id = excluded.id))
    returning k.id
  )
  select coalesce(array_agg(w.id), '{}') into claimed from written w;
  return array(select (c ->> 'n')::integer from jsonb_array_elements(claims) c where c ->> 'id' <> all (claimed));
end $$;
