-- Records balances that these charges took below what a webhook of their owner watches, in the transaction of
-- the charges: once per fall, since it compares the balance before them with the one after. Call it when the
-- accounts have been charged.
create or replace function record_low_balances(user_ids text[], charges bigint[]) returns void
language plpgsql as $$
begin
  if not exists (
    select from webhook_endpoint e where e.user_id = any (user_ids) and e.balance_below is not null
  ) then
    return;
  end if;
  with fallen as materialized (
    select make_id('evt') as event_id, e.id as endpoint_id, e.user_id,
           jsonb_build_object('balance', a.balance::text, 'reserved', (a.reserved + a.earmarked)::text,
                              'balanceBelow', e.balance_below::text) as data
    from (select i.user_id, sum(i.charge)::bigint as charge
          from unnest(user_ids, charges) i (user_id, charge) group by i.user_id) t
    join account a on a.user_id = t.user_id
    join webhook_endpoint e on e.user_id = t.user_id
    where e.disabled_at is null and 'balance.low' = any (e.events)
      and a.balance < e.balance_below and a.balance + t.charge >= e.balance_below
  ), recorded as (
    insert into webhook_event (id, user_id, type, data)
    select f.event_id, f.user_id, 'balance.low', f.data from fallen f
  )
  insert into webhook_delivery (id, event_id, endpoint_id, user_id)
  select make_id('dlv'), f.event_id, f.endpoint_id, f.user_id from fallen f;
end $$;
