-- Writes the rows of chat calls for which `amounts` were set aside, but not of those at the places `refused`.
create or replace function open_calls(
  call_ids text[], user_ids text[], key_ids text[], request_ids text[], models text[], streams boolean[],
  amounts bigint[], lease_seconds integer, refused integer[]
) returns void
language plpgsql as $$
begin
  insert into chat_call (user_id, id, key_id, request_id, model, stream, credits_reserved, day, lease_until)
  select i.user_id, i.id, i.key_id, i.request_id, i.model, i.stream, i.amount, s.day,
    now() + make_interval(secs => lease_seconds)
  from unnest(call_ids, user_ids, key_ids, request_ids, models, streams, amounts) with ordinality
    i (id, user_id, key_id, request_id, model, stream, amount, n)
  join key_spending s on s.key_id = any (array[i.key_id])
  where i.n <> all (refused);
end $$;
