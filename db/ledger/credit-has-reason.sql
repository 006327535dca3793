-- Says whether something stands behind a transfer that added credits: who did it, and why. Of a grant and of
-- a refund that is the one entry of the audit log that names the transfer, with its amount, for whom it was,
-- and made at that time, so that the log shows it where it belongs. Of a redemption it is the redemption, of
-- a code that gives this amount and was valid then. Nothing stands behind any other.
create or replace function credit_has_reason(p_account_id text, p_sequence bigint) returns boolean
language sql stable as $$
  select case when t.kind = 'redeem' then exists (
      select from redemption d join redeem_code c on c.id = d.code_id
      where d.user_id = t.account_id and d.transfer_sequence = t.sequence and d.credits = t.amount
        and c.credits = t.amount and t.created_at <= coalesce(least(c.expires_at, c.disabled_at), 'infinity')
    ) else exists (
      select from audit_entry e
      where e.detail ->> 'ledgerEntryId' = t.id and e.detail -> 'credits' = to_jsonb(t.amount * 0.000001)
        and (t.kind, e.action, e.target_id) in
          (('grant', 'GRANT_CREDITS', t.account_id), ('refund', 'REFUND_TASK', t.task_id))
        and time_of_id(e.id) between t.created_at - interval '1 hour' and t.created_at + interval '1 hour'
    ) end
  from ledger_transfer t where t.account_id = p_account_id and t.sequence = p_sequence
$$;
