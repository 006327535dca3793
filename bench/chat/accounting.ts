// The accounting of the floor: one durable statement before a call and one after it, each for all that wait.
//
// It is what billing cannot do without: accounts that cannot be overdrawn, one row per call, one charge per
// row. It knows no keys, quotas, limits, prices, ledger, records or leases.
import type { MikroORM } from '@mikro-orm/postgresql';
import { batch } from '../../db/batching.ts';
import { forkEm } from '../../db/database.ts';
import { prepare } from '../../db/prepared.ts';

export interface Accounting {
  /** Sets the worst case of a call aside. False: its account has not enough; nothing is set aside. */
  reserve(callId: string): Promise<boolean>;
  /** Charges the call once, and gives the rest of its reservation back. */
  settle(callId: string): Promise<void>;
}

const ACCOUNTS = 1_000;
const BALANCE = 1_000_000_000_000;
const RESERVED = 5_000;
const CHARGED = 300;
const BATCH_OPTIONS = { itemsMax: 100, isOneItemsFault: () => false };

/** Makes the tables with their accounts, if they are not there. Calls take turns on the accounts. */
export async function startAccounting(database: MikroORM): Promise<Accounting> {
  await forkEm(database).execute(SCHEMA);
  await forkEm(database).execute(
    `insert into bench_account (id, balance, reserved)
     select n, ${BALANCE}, 0 from generate_series(0, ${ACCOUNTS - 1}) n on conflict do nothing`,
  );
  let turn = 0;
  const reserve = batch(async (items: readonly Call[]) => {
    const rows = await reserveAll(forkEm(database), [
      items.map(({ id }) => id),
      items.map(({ account }) => account),
      items.map(() => RESERVED),
    ]);
    return rows.map(({ fits }) => fits);
  }, BATCH_OPTIONS);
  const settle = batch(async (ids: readonly string[]) => {
    await settleAll(forkEm(database), [ids, ids.map(() => CHARGED)]);
    return ids;
  }, BATCH_OPTIONS);
  return {
    reserve: (id) => reserve({ id, account: (turn = (turn + 1) % ACCOUNTS) }),
    settle: async (id) => void (await settle(id)),
  };
}

/** Whether its accounts add up: each lost what its calls were charged, and has nothing set aside. */
export async function checkAccounting(database: MikroORM): Promise<{ calls: number; isExact: boolean }> {
  const [sums] = await forkEm(database).execute<{ calls: number; isExact: boolean }[]>(`
    with charged as (select account, count(charged)::int as calls, sum(charged) as amount from bench_hold group by account)
    select coalesce(sum(c.calls), 0)::int as calls,
           bool_and(a.reserved = 0 and a.balance = ${BALANCE} - coalesce(c.amount, 0)) as "isExact"
    from bench_account a left join charged c on c.account = a.id`);
  return sums ?? { calls: 0, isExact: false };
}

interface Call {
  id: string;
  account: number;
}

/** As in the gateway: rows are found by their keys, however small their tables were at first. */
const PLANS = `language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set random_page_cost = 0.1`;

const SCHEMA = `
  create table if not exists bench_account (
    id integer primary key, balance bigint not null, reserved bigint not null,
    check (reserved >= 0 and reserved <= balance)
  ) with (fillfactor = 50);
  create table if not exists bench_hold (
    id text primary key, account integer not null, reserved bigint not null, charged bigint
  ) with (fillfactor = 80);

  create or replace function bench_reserve(ids text[], accounts integer[], amounts bigint[])
  returns table (fits boolean) ${PLANS} as $$
  begin
    perform from bench_account where id = any (accounts) order by id + 0 for update;
    return query
      with judged as materialized (
        select i.*, sum(i.amount) over (partition by i.account order by i.n) <= a.balance - a.reserved as fits
        from unnest(ids, accounts, amounts) with ordinality i (id, account, amount, n)
        join bench_account a on a.id = any (array[i.account])),
      moved as (
        update bench_account a set reserved = a.reserved + t.amount
        from (select j.account, sum(j.amount)::bigint as amount from judged j where j.fits group by j.account) t
        where a.id = any (array[t.account])),
      written as (
        insert into bench_hold (id, account, reserved) select j.id, j.account, j.amount from judged j where j.fits)
      select j.fits from judged j order by j.n;
  end $$;

  create or replace function bench_settle(ids text[], charges bigint[]) returns void ${PLANS} as $$
  begin
    perform from bench_account where id = any (array(select h.account from bench_hold h where h.id = any (ids)))
    order by id + 0 for update;
    with ended as materialized (
      update bench_hold h set charged = i.charge
      from unnest(ids, charges) i (id, charge)
      where h.id = any (array[i.id]) and h.charged is null
      returning h.account, h.reserved, h.charged)
    update bench_account a set reserved = a.reserved - t.reserved, balance = a.balance - t.charged
    from (select e.account, sum(e.reserved)::bigint as reserved, sum(e.charged)::bigint as charged
          from ended e group by e.account) t
    where a.id = any (array[t.account]);
  end $$`;

const reserveAll = prepare<{ fits: boolean }>('bench-reserve', 'select fits from bench_reserve($1, $2, $3)');

const settleAll = prepare<object>('bench-settle', 'select from bench_settle($1, $2)');
