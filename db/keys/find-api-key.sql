-- Finds a living API key by any of its hashes, in hexadecimal, with its user. Both are looked up in an index,
-- whatever the planner believes of the tables: every request runs this, and a plan that was made when there
-- was one key would read all of them until the next statistics.
create or replace function find_api_key(hashes text[]) returns table (
  id text, name text, secret_key_id text, model_scope text[], expires_at timestamptz, last_used_at timestamptz,
  user_id text, email text, disabled_at timestamptz
)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query
    select k.id, k.name, k.secret_key_id, k.model_scope, k.expires_at, k.last_used_at, u.id, u.email, u.disabled_at
    from unnest(hashes) h (hash)
    cross join lateral (
      select * from api_key k where k.hash = decode(h.hash, 'hex') and k.revoked_at is null limit 1
    ) k
    cross join lateral (select * from app_user u where u.id = k.user_id limit 1) u;
end $$;
