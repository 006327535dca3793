-- Claims the idempotency keys of chat calls in the statement that reserves for them. `claims`: an array with,
-- for each, the place `n` of its call, the `id` of its row, `method`, `path`, `key_hash` and `fingerprint`
-- (both in hexadecimal), and `undone_id`, the call of an earlier request whose effect was undone; its row is
-- taken over, as one is whose time is over. Several requests may take over one row, each under the row's
-- `id`: whose call the row names has claimed it. Of several for one key, one that may take over a row comes
-- first. Answers the places of the calls whose keys other requests have taken. Call it before the counters
-- are locked, which is the order of all transactions with a key. A request of another transaction that claims
-- the same key is waited for; in the order of the index, so that two never wait for each other. A repeat of
-- an earlier request shows without a lock on the row, which its answer and a new key ring are written to in
-- another order. Rows are looked up one by one as in `find_keys`, whatever the planner believes of the table.
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
    order by user_id, c.method, c.path, key_hash, c.undone_id is null, c.n
  ), open as (
    select w.*
    from wanted w left join lateral (
      select k.created_at, k.answer, k.subject_id from idempotency_key k
      where k.user_id = w.user_id and k.method = w.method and k.path = w.path and k.key_hash = w.key_hash
      limit 1
    ) k on true
    where k.created_at is null or k.created_at <= now() - make_interval(hours => kept_hours)
       or (k.answer is null and k.subject_id = w.undone_id)
  ), written as (
    insert into idempotency_key as k (id, user_id, method, path, key_hash, fingerprint, subject_id, leased_until)
    select o.id, o.user_id, o.method, o.path, o.key_hash, o.fingerprint, o.subject_id,
      now() + make_interval(secs => lease_seconds)
    from open o
    on conflict (user_id, method, path, key_hash) do update
    set id = excluded.id, fingerprint = excluded.fingerprint, subject_id = excluded.subject_id, answer = null,
        answer_secret_key_id = null, created_at = excluded.created_at, leased_until = excluded.leased_until
    where k.created_at <= now() - make_interval(hours => kept_hours)
       or (k.answer is null and k.subject_id = (select w.undone_id from wanted w where w.id = excluded.id))
    returning k.subject_id
  )
  select coalesce(array_agg(w.subject_id), '{}') into claimed from written w;
  return array(
    select n from (select (c ->> 'n')::integer as n from jsonb_array_elements(claims) c) c
    where call_ids[n] <> all (claimed));
end $$;
