-- Adds credits to an account with a transfer of their own, once per idempotency key: a repeat answers the
-- first transfer. What stands behind them (`credit-has-reason.sql`) must be there when the transaction ends.
-- Answers no row when there is no such account.
create or replace function credit_account(
  p_user_id text, p_amount bigint, p_kind text, p_idempotency_key text, p_description text, p_request_id text,
  p_transfer_id text
) returns table (transfer_id text, sequence bigint, balance bigint, available bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  perform lock_counters(array[p_user_id], null);
  if not exists (select from ledger_transfer where idempotency_key = p_idempotency_key) then
    update account a
    set balance = a.balance + p_amount, total_granted = a.total_granted + p_amount, sequence = a.sequence + 1,
        updated_at = now()
    where a.user_id = p_user_id;
    insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
      idempotency_key, request_id, description)
    select a.user_id, a.sequence, p_transfer_id, 'operator:grants', p_kind, p_amount, a.balance, p_idempotency_key,
      p_request_id, p_description
    from account a where a.user_id = p_user_id;
    insert into credited_transfer (transfer_id, account_id, sequence)
    select p_transfer_id, a.user_id, a.sequence from account a where a.user_id = p_user_id;
  end if;
  return query
    select t.id, t.sequence, t.balance_after, a.balance - a.reserved - a.earmarked
    from ledger_transfer t join account a on a.user_id = t.account_id where t.idempotency_key = p_idempotency_key;
end $$;
