-- Finds the rows of many requests with idempotency keys, by their places in the arrays; hashes in
-- hexadecimal. Each is looked up in the index, whatever the planner believes of the table, which grows fast
-- when it is new. An answer of more than 8 KiB is null here while its `answer_secret_key_id` is not, so that
-- no lookup waits for the megabytes of another one.
create or replace function find_keys(
  user_ids text[], methods text[], paths text[], key_hashes text[], fingerprints text[], kept_hours integer
) returns table (
  n integer, id text, is_same_content boolean, is_leased boolean, subject_id text, answer bytea,
  answer_secret_key_id text
)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
    select i.n::integer, k.id, k.fingerprint = decode(i.fingerprint, 'hex'), k.leased_until > now(), k.subject_id,
      case when octet_length(k.answer) <= 8192 then k.answer end, k.answer_secret_key_id
    from unnest(user_ids, methods, paths, key_hashes, fingerprints) with ordinality
      i (user_id, method, path, key_hash, fingerprint, n)
    cross join lateral (
      select k.* from idempotency_key k
      where k.user_id = i.user_id and k.method = i.method and k.path = i.path
        and k.key_hash = decode(i.key_hash, 'hex')
      limit 1
    ) k
    where k.created_at > now() - make_interval(hours => kept_hours);
end $$;
