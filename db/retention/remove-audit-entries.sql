-- Removes at most `p_limit` audit entries from before `p_before`, oldest first, and answers how many: none
-- that is younger than its floor, and none that stands behind credits. `p_before_id` is the smallest id of
-- that moment.
create or replace function remove_audit_entries(p_before timestamptz, p_before_id text, p_limit integer)
returns integer
language plpgsql as $$
declare
  bound timestamptz;
  gone integer;
begin
  select least(p_before, now() - kept) into strict bound from retention_floor where subject = 'audit_entry';
  perform set_config('svc.audit_removed_before', bound::text, true);
  delete from audit_entry
  where id in (
    select id from audit_entry
    where id < p_before_id and created_at < bound
      and action not in ('GRANT_CREDITS', 'REFUND_TASK', 'CREATE_REDEEM_CODE')
    order by id limit p_limit);
  get diagnostics gone = row_count;
  perform set_config('svc.audit_removed_before', '', true);
  update retention set removed = removed + gone where subject = 'audit_entry';
  return gone;
end $$;
