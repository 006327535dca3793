-- Moves the money of many chat calls in one statement: settles those that have ended, then reserves for new
-- ones. What has just been returned to an account is there for its next call, and all share one lock and one
-- flush to disk. A new call gets the amount that `spare_amounts` chooses from its least to its most.
-- `claims`: what `claim_keys` is to claim for the new calls that have idempotency keys; null without any. A
-- key and its reservation are written both, or neither. `kept_ids` and the three after it: answers that
-- `keep_answers` keeps for repeats, each with the place of the end that it belongs to, or null when its call
-- has ended before. It is written before the counters are locked, since a long one takes its time, and is
-- taken back where its call is not charged what the arrays say, and so the answer. A statement of many calls
-- waits for a locked account for half a second only: it fails then, and its caller asks for each alone, so
-- that the others wait no longer. Most statements are plain: every ended call was open, and every new one is
-- granted its most. Then each account and key is written once for all of its moves. Answers, by place in the
-- arrays, what each ended call was really charged, if one of them was not open; and those new ones that were
-- refused, with what their account had free then, whose key is taken, or that got less than their most,
-- without a refusal and with what they got. `is_reservation` tells which arrays `n` is a place in.
create or replace function move_calls(
  ended_ids text[], ended_user_ids text[], ended_key_ids text[], transfer_ids text[], charges bigint[],
  losses bigint[], statuses text[], prompts integer[], completions integer[], bases text[], latencies integer[],
  upstream_request_ids text[], error_codes text[], error_messages text[], tries text[],
  call_ids text[], user_ids text[], key_ids text[], request_ids text[], models text[], streams boolean[],
  leasts bigint[], mosts bigint[], lease_seconds integer, claims jsonb, keys_kept_hours integer,
  kept_ids text[], kept_answers text[], kept_secret_key_ids text[], kept_ends integer[]
) returns table (is_reservation boolean, n integer, refusal text, amount bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set enable_bitmapscan = off set random_page_cost = 0.1 as $$
#variable_conflict use_column
declare
  taken integer[] := '{}';
  ended record;
  were_open boolean := true; -- all that have ended
  is_plain boolean := false; -- for the new ones
  amounts bigint[] := leasts;
  refused integer[] := '{}';
  corrected integer[] := '{}';
begin
  if claims is not null then
    taken := claim_keys(claims, call_ids, user_ids, lease_seconds, keys_kept_hours);
  end if;
  if kept_ids <> '{}' then
    perform keep_answers(kept_ids, kept_answers, kept_secret_key_ids);
  end if;
  if cardinality(ended_ids) + cardinality(call_ids) > 1 then
    perform set_config('lock_timeout', '500ms', true);
  end if;
  perform lock_counters(ended_user_ids || user_ids, ended_key_ids || key_ids);
  if claims @? '$[*].undone_id ? (@ != null)' then
    taken := give_up_undone_calls(claims, user_ids, taken);
  end if;
  if ended_ids <> '{}' then
    select * into ended from complete_calls(ended_ids, ended_user_ids, transfer_ids, charges, losses, statuses, prompts,
      completions, bases, latencies, upstream_request_ids, error_codes, error_messages, tries);
    were_open := coalesce(cardinality(ended.places), 0) = cardinality(ended_ids);
  end if;
  if call_ids <> '{}' and taken = '{}' and were_open then
    is_plain := may_all_begin(user_ids, key_ids, models, leasts, mosts);
  end if;
  if ended_ids = '{}' then
    if is_plain then
      perform move_counters(user_ids, key_ids, mosts, null, null, null, false);
    end if;
  elsif ended.places is not null then
    perform move_counters(
      ended.of_users || case when is_plain then user_ids end, ended.of_keys || case when is_plain then key_ids end,
      ended.amounts || case when is_plain then mosts end, ended.charged, ended.lost, ended.days, false);
    perform write_charges(ended.of_users, ended.of_keys, ended.charged, ended.transfers, null, null, ended.calls,
      ended.models, ended.requests, array_fill('chat'::text, array[cardinality(ended.places)]), null);
  end if;
  if not were_open then
    is_reservation := false;
    for n, amount in
      select c.n, c.charged
      from correct_calls(ended.places, ended_ids, ended_user_ids, transfer_ids, charges, losses, statuses, prompts,
        completions, bases, latencies, upstream_request_ids, error_codes, error_messages, tries) c
    loop
      if amount <> charges[n] then
        corrected := corrected || n;
      end if;
      return next;
    end loop;
  end if;
  if corrected <> '{}' then
    update idempotency_key k set answer = null, answer_secret_key_id = null
    from unnest(kept_ids, kept_answers, kept_ends) i (id, answer, place)
    where i.place = any (corrected) and k.id = any (array[i.id]) and k.answer = decode(i.answer, 'base64');
  end if;
  if is_plain then
    perform open_calls(call_ids, user_ids, key_ids, request_ids, models, streams, mosts, lease_seconds, '{}');
  elsif call_ids <> '{}' then
    if leasts <> mosts then
      amounts := spare_amounts(user_ids, key_ids, leasts, mosts);
    end if;
    is_reservation := true;
    for n, refusal, amount in
      select b.n, b.refusal, b.available
      from begin_calls(call_ids, user_ids, key_ids, request_ids, models, streams, amounts, lease_seconds, taken) b
    loop
      refused := refused || n;
      return next;
    end loop;
    if claims is not null and cardinality(refused) > cardinality(taken) then
      delete from idempotency_key where id = any (array(
        select c ->> 'id' from jsonb_array_elements(claims) c
        where (c ->> 'n')::integer = any (refused) and (c ->> 'n')::integer <> all (taken)));
    end if;
    if amounts <> mosts then
      return query
        select true, i.n::integer, null, i.amount
        from unnest(amounts, mosts) with ordinality i (amount, most, n)
        where i.amount < i.most and i.n <> all (refused);
    end if;
  end if;
end $$;
