-- Locks the counters of accounts, then of keys, each in the order of their ids: the one order in which money
-- is locked, so that two moves never wait for each other. What a later statement reads is the newest state.
-- The order is that of an expression, which no index has: else a plan that was made for a table of few rows
-- reads all of the index in its order, and goes on doing so when there are many.
create or replace function lock_counters(user_ids text[], key_ids text[]) returns void
language plpgsql as $$
begin
  perform from account where user_id = any (user_ids) order by user_id || '' for update;
  perform from key_spending where key_id = any (key_ids) order by key_id || '' for update;
end $$;
