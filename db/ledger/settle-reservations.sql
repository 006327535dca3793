-- Ends reservations of tasks and chat calls: what is charged leaves the balance, the rest is free again, and
-- each charge becomes a transfer. `amounts`: what was reserved, on the UTC days `days`. Arrays that do not
-- apply are null. Call it with the counters locked, after the rows of attempts or calls were settled: they
-- make it happen once. Rows are found by their key as `end_calls` finds its calls.
create or replace function settle_reservations(
  user_ids text[], key_ids text[], amounts bigint[], charges bigint[], losses bigint[], days date[],
  transfer_ids text[], task_ids text[], attempts integer[], call_ids text[], models text[], request_ids text[],
  descriptions text[], idempotency_keys text[]
) returns void
language plpgsql as $$
begin
  update account a
  set reserved = a.reserved - t.amount, balance = a.balance - t.charge, total_charged = a.total_charged + t.charge,
      total_loss = a.total_loss + t.loss, sequence = a.sequence + t.transfers, updated_at = now()
  from (select i.user_id, sum(i.amount)::bigint as amount, sum(i.charge)::bigint as charge,
               sum(i.loss)::bigint as loss, count(*) filter (where i.charge > 0) as transfers
        from unnest(user_ids, amounts, charges, losses) i (user_id, amount, charge, loss) group by i.user_id) t
  where a.user_id = any (array[t.user_id]);
  update key_spending s
  set reserved = s.reserved - t.amount, used = s.used + t.charge,
      day_reserved = s.day_reserved - t.day_amount, day_used = s.day_used + t.day_charge
  from (select i.key_id, sum(i.amount)::bigint as amount, sum(i.charge)::bigint as charge,
               coalesce(sum(i.amount) filter (where i.day = k.day), 0)::bigint as day_amount,
               coalesce(sum(i.charge) filter (where i.day = k.day), 0)::bigint as day_charge
        from unnest(key_ids, amounts, charges, days) i (key_id, amount, charge, day)
        join key_spending k on k.key_id = any (array[i.key_id]) group by i.key_id) t
  where s.key_id = any (array[t.key_id]);
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
