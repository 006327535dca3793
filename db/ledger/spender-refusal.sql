-- Says why an account and a key may not spend at all; null when they may. `key_id` is null when no key pays.
-- Read key and account in a statement that begins after their counters were locked: what
-- disables a user, or revokes or changes a key, holds these locks too, so the answer holds until the
-- transaction ends.
create or replace function spender_refusal(holder account, key_id text, key api_key, model text) returns text
language sql stable as $$
  select case
    when holder.user_id is null or holder.disabled_at is not null or holder.frozen_at is not null
      then 'account_disabled'
    when key_id is null then null
    when key.id is null or key.user_id <> holder.user_id or key.revoked_at is not null then 'invalid_api_key'
    when key.expires_at <= now() then 'expired_api_key'
    when not model = any (key.model_scope) then 'model_not_allowed'
  end
$$;
