-- Keeps the encrypted answers of many requests, in base64, in the rows `ids`. The first answer of a row
-- stands. Rows are found by their key as `complete_calls` finds its calls; call it from `move_calls`, whose
-- settings its plan needs.
create or replace function keep_answers(ids text[], answers text[], secret_key_ids text[]) returns void
language plpgsql as $$
begin
  update idempotency_key k
  set answer = decode(i.answer, 'base64'), answer_secret_key_id = i.secret_key_id
  from unnest(ids, answers, secret_key_ids) i (id, answer, secret_key_id)
  where k.id = any (array[i.id]) and k.answer is null;
end $$;
