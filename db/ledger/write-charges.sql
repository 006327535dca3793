-- Writes a transfer for each charge, after the accounts were charged by `move_counters`: the last one on an
-- account has the number and the balance that the account has now. Arrays that do not apply are null. Rows
-- are found by their key as `complete_calls` finds its calls.
create or replace function write_charges(
  user_ids text[], key_ids text[], charges bigint[], transfer_ids text[], task_ids text[], attempts integer[],
  call_ids text[], models text[], request_ids text[], descriptions text[], idempotency_keys text[]
) returns void
language plpgsql as $$
begin
  insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
    idempotency_key, task_id, attempt, call_id, key_id, model, request_id, description)
  select a.user_id, a.sequence - i.later, i.id, 'operator:revenue', 'charge', -i.charge, a.balance + i.charged_later,
    i.idempotency_key, i.task_id, i.attempt, i.call_id, i.key_id, i.model, i.request_id, i.description
  from (
    select c.*, row_number() over later - 1 as later, (sum(c.charge) over later)::bigint - c.charge as charged_later
    from unnest(user_ids, key_ids, charges, transfer_ids, task_ids, attempts, call_ids, models, request_ids,
      descriptions, idempotency_keys) with ordinality c (user_id, key_id, charge, id, task_id, attempt, call_id, model,
      request_id, description, idempotency_key, n)
    where c.charge > 0
    window later as (partition by c.user_id order by c.n desc rows unbounded preceding)
  ) i join account a on a.user_id = any (array[i.user_id]);
  perform record_low_balances(user_ids, charges);
end $$;
