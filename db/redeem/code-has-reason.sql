-- Says whether an entry of the audit log stands behind a redeem code, which says who made it, what it gives,
-- and how often, and which was made at that time, so that the log shows it where it belongs.
create or replace function code_has_reason(p_code_id text) returns boolean
language sql stable as $$
  select exists (
    select from redeem_code c join audit_entry e on e.target_id = c.id and e.action = 'CREATE_REDEEM_CODE'
    where c.id = p_code_id and e.detail -> 'credits' = to_jsonb(c.credits * 0.000001)
      and e.detail -> 'maxUses' = to_jsonb(c.max_uses)
      and time_of_id(e.id) between c.created_at - interval '1 hour' and c.created_at + interval '1 hour'
  )
$$;
