-- Ends reservations of tasks and chat calls: what is charged leaves the balance, the rest is free again, and
-- each charge becomes a transfer. `amounts`: what was reserved, on the UTC days `days`. Arrays that do not
-- apply are null. Call it with the counters locked, after the rows of attempts or calls were settled: they
-- make it happen once.
create or replace function settle_reservations(
  user_ids text[], key_ids text[], amounts bigint[], charges bigint[], losses bigint[], days date[],
  transfer_ids text[], task_ids text[], attempts integer[], call_ids text[], models text[], request_ids text[],
  descriptions text[], idempotency_keys text[]
) returns void
language plpgsql as $$
begin
  perform move_counters(user_ids, key_ids, amounts, charges, losses, days, false);
  perform write_charges(user_ids, key_ids, charges, transfer_ids, task_ids, attempts, call_ids, models, request_ids,
    descriptions, idempotency_keys);
end $$;
