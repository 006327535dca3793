// Sums of usage by user, key and day of UTC, for administrators who compare users over months.
import { Migration } from '@mikro-orm/migrations';

export class Migration090UsageDays extends Migration {
  override up(): void {
    this.addSql(DAYS);
    this.addSql(UPKEEP);
    this.addSql(BEGINNING);
  }
}

const SUMS = ['credits', 'loss', 'tasks', 'calls', 'failed', 'prompt_tokens', 'completion_tokens'];
const QUANTITIES = ['images', 'seconds'];
const COLUMNS = [...SUMS, ...QUANTITIES];

/** The same sums as `usage_rollup`, without kind, model and family: the key begins with the day. */
const DAYS = `
create table usage_day (
  day date not null,
  user_id text not null,
  key_id text not null,
  ${SUMS.map((name) => `${name} bigint not null default 0`).join(', ')},
  ${QUANTITIES.map((name) => `${name} numeric not null default 0`).join(', ')},
  primary key (day, user_id, key_id)
) with (fillfactor = 80);
`;

/** Adds rows of `usage_rollup` to the sums of their days; those of all users together have none. */
const addDays = (source: string): string => `
    insert into usage_day as d (day, user_id, key_id, ${COLUMNS.join(', ')})
    select (bucket at time zone 'utc')::date, user_id, key_id, ${COLUMNS.map((name) => `sum(${name})`).join(', ')}
    from ${source} where user_id <> '' group by 1, 2, 3 order by 1, 2, 3
    on conflict (day, user_id, key_id) do update
    set ${COLUMNS.map((name) => `${name} = d.${name} + excluded.${name}`).join(', ')};`;
const CHANGE = `(
      select bucket, user_id, key_id, ${COLUMNS.join(', ')} from changed
      union all
      select bucket, user_id, key_id, ${COLUMNS.map((name) => `-${name}`).join(', ')} from replaced
    ) c`;

/**
 * The change of a row of `usage_rollup` is a change of its day, whatever made it. An upsert fires both: what
 * it inserted is new alone, what it updated is the new less the old.
 */
const UPKEEP = `
create function add_usage_days() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addDays('added')}
  else
    ${addDays(CHANGE)}
  end if;
  return null;
end $$;
create trigger usage_rollup_inserted after insert on usage_rollup referencing new table as added
  for each statement execute function add_usage_days();
create trigger usage_rollup_updated after update on usage_rollup
  referencing old table as replaced new table as changed
  for each statement execute function add_usage_days();
`;

/** What was summed before. */
const BEGINNING = addDays('usage_rollup');
