-- Gives back a part of what an attempt was charged, once per idempotency key: a repeat answers the first
-- transfer, whatever its amount. Its audit entry must be there when the transaction ends. The task itself may
-- have been removed by age. Answers no row when there is no such charge, or less than the amount is left of
-- it, or there is nothing to give back.
create or replace function refund_attempt(
  p_task_id text, p_attempt integer, p_amount bigint, p_idempotency_key text, p_description text, p_transfer_id text
) returns table (transfer_id text, sequence bigint, balance bigint, available bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  charged task_attempt;
begin
  select * into charged from task_attempt where task_id = p_task_id and attempt = p_attempt;
  perform lock_counters(array[charged.user_id], array[charged.key_id]);
  if not exists (select from ledger_transfer where idempotency_key = p_idempotency_key) then
    update task_attempt t set refunded = t.refunded + p_amount
    where t.task_id = p_task_id and t.attempt = p_attempt and t.state = 'charged' and p_amount > 0
      and t.refunded + p_amount <= t.charged;
    if not found then
      return;
    end if;
    update account a
    set balance = a.balance + p_amount, total_charged = a.total_charged - p_amount, sequence = a.sequence + 1,
        updated_at = now()
    where a.user_id = charged.user_id;
    update key_spending s
    set used = s.used - p_amount, day_used = s.day_used - case when s.day = charged.day then p_amount else 0 end
    where s.key_id = charged.key_id;
    insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
      idempotency_key, task_id, attempt, key_id, model, description)
    select a.user_id, a.sequence, p_transfer_id, 'operator:revenue', 'refund', p_amount, a.balance, p_idempotency_key,
      p_task_id, p_attempt, charged.key_id, c.model, p_description
    from account a join ledger_transfer c on c.task_id = p_task_id and c.attempt = p_attempt and c.kind = 'charge'
    where a.user_id = charged.user_id;
    insert into credited_transfer (transfer_id, account_id, sequence)
    select p_transfer_id, a.user_id, a.sequence from account a where a.user_id = charged.user_id;
  end if;
  return query
    select t.id, t.sequence, t.balance_after, a.balance - a.reserved - a.earmarked
    from ledger_transfer t join account a on a.user_id = t.account_id where t.idempotency_key = p_idempotency_key;
end $$;
