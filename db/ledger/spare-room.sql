-- What half of an account's credits, and half of what a key may still spend in all and on the UTC day
-- `today`, leave beyond what is set aside and these amounts. Negative where they do not fit; a key without
-- limits counts for nothing.
create or replace function spare_room(
  holder account, spending key_spending, today date, of_account bigint, of_key bigint
) returns bigint
language sql immutable as $$
  select least(
    holder.balance / 2 - holder.reserved - holder.earmarked - of_account,
    (spending.quota - spending.used) / 2 - spending.reserved - spending.earmarked - of_key,
    case when spending.day >= today then (spending.daily_budget - spending.day_used) / 2 - spending.day_reserved
      else spending.daily_budget / 2 end - spending.earmarked - of_key
  )
$$;
