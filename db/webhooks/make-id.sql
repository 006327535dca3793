-- Makes an id as db/ids.ts does: a prefix, and 26 characters of 48 bits of milliseconds and 80 random bits.
create or replace function make_id(prefix text) returns text
language sql volatile as $$
  select prefix || '_' || string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(b.bits from 1 + 5 * n for 5)::bit(5)::int + 1, 1), '' order by n)
  from (
    select B'00' || ('x' || lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
                     || left(u.hex, 12) || right(u.hex, 8))::bit(128) as bits
    from (select replace(gen_random_uuid()::text, '-', '') as hex) u
  ) b, generate_series(0, 25) n
$$;
