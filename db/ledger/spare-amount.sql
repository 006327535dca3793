-- Chooses how much one text task may set aside, as `spare_amounts` does; the key is null where none was used.
-- With the counters locked, what the same transaction earmarks is judged by the same figures.
create or replace function spare_amount(
  p_user_id text, p_key_id text, p_least bigint, p_most bigint, is_locking boolean
) returns bigint
language plpgsql as $$
begin
  if is_locking then
    perform lock_counters(array[p_user_id], array[p_key_id]);
  end if;
  return (spare_amounts(array[p_user_id], array[p_key_id], array[p_least], array[p_most]))[1];
end $$;
