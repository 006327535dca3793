-- Says which limit an amount exceeds: the key's quota, its budget of the UTC day, or the account's credits;
-- null when it fits. `of_account` and `of_key` differ where many amounts are judged at once. What is
-- earmarked counts as taken, except where the amount itself is earmarked: what waits beside it was judged
-- after it. `today`: the UTC day, asked after the counters were locked.
create or replace function amount_refusal(
  holder account, spending key_spending, today date, of_account bigint, of_key bigint, is_earmarked boolean
) returns text
language sql immutable as $$
  select case
    when spending.used + spending.reserved + of_key + case when is_earmarked then 0 else spending.earmarked end
      > spending.quota then 'key_quota_exceeded'
    when case when spending.day >= today then spending.day_used + spending.day_reserved else 0 end
         + of_key + case when is_earmarked then 0 else spending.earmarked end
      > spending.daily_budget then 'daily_budget_exceeded'
    when holder.balance - holder.reserved - holder.earmarked + case when is_earmarked then of_account else 0 end
      < of_account then 'insufficient_credits'
  end
$$;
