-- When an id was made (`db/ids.ts`), by the clock of the process that made it.
create or replace function time_of_id(id text) returns timestamptz
language sql immutable as $$
  select to_timestamp(sum(
    (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(split_part(id, '_', 2), n, 1)) - 1)::bigint << 5 * (10 - n)
  )::float8 / 1000)
  from generate_series(1, 10) n
$$;
