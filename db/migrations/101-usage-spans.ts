// Sums of usage by hour, day and month of UTC, of which any period of any time zone is put together.
import { Migration } from '@mikro-orm/migrations';

export class Migration101UsageSpans extends Migration {
  override up(): void {
    this.addSql(OF_ONE);
    this.addSql(OF_ALL);
    this.addSql(UPKEEP);
    this.addSql(addSpans('usage_rollup'));
    this.addSql(BEFORE);
  }
}

const SUMS = ['credits', 'loss', 'tasks', 'calls', 'failed', 'prompt_tokens', 'completion_tokens'];
const QUANTITIES = ['images', 'seconds'];
const COLUMNS = [...SUMS, ...QUANTITIES];
const SUM_COLUMNS = `
  ${SUMS.map((name) => `${name} bigint not null default 0`).join(', ')},
  ${QUANTITIES.map((name) => `${name} numeric not null default 0`).join(', ')}`;

/** The sums of `usage_rollup`, user by user, and of all users together with the user ''. */
const OF_ONE = `
create table usage_span (
  user_id text not null,
  span text not null check (span in ('hour', 'day', 'month')),
  start timestamptz not null,
  key_id text not null,
  kind text not null,
  model text not null,
  family text not null,
  ${SUM_COLUMNS},
  primary key (user_id, span, start, key_id, kind, model, family)
) with (fillfactor = 80);
`;

/** Each user and key, one beside the other: without what they used. The key '*' stands for all of a user. */
const OF_ALL = `
create table usage_comparison (
  span text not null check (span in ('hour', 'day', 'month')),
  start timestamptz not null,
  user_id text not null,
  key_id text not null,
  ${SUM_COLUMNS},
  primary key (span, start, user_id, key_id)
) with (fillfactor = 80);
`;

const added = (alias: string): string =>
  COLUMNS.map((name) => `${name} = ${alias}.${name} + excluded.${name}`).join(', ');
const summed = COLUMNS.map((name) => `sum(${name})`).join(', ');

/** Adds rows of `usage_rollup` to the sums of their spans, oldest first. */
export function addSpans(source: string): string {
  return `
    insert into usage_span as s (user_id, span, start, key_id, kind, model, family, ${COLUMNS.join(', ')})
    select user_id, span, date_trunc(span, bucket, 'UTC'), key_id, kind, model, family, ${summed}
    from ${source} cross join (values ('hour'), ('day'), ('month')) each (span)
    group by 1, 2, 3, 4, 5, 6, 7 order by 3, 1, 2, 4, 5, 6, 7
    on conflict (user_id, span, start, key_id, kind, model, family) do update set ${added('s')};
    insert into usage_comparison as s (span, start, user_id, key_id, ${COLUMNS.join(', ')})
    select span, date_trunc(span, bucket, 'UTC'), user_id, coalesce(of_all, key_id), ${summed}
    from ${source} cross join (values ('hour'), ('day'), ('month')) each (span)
    cross join (values ('*'), (null)) key (of_all)
    where user_id <> '' group by 1, 2, 3, 4 order by 2, 1, 3, 4
    on conflict (span, start, user_id, key_id) do update set ${added('s')};`;
}

const CHANGE = `(
      select user_id, bucket, key_id, kind, model, family, ${COLUMNS.join(', ')} from changed
      union all
      select user_id, bucket, key_id, kind, model, family, ${COLUMNS.map((name) => `-${name}`).join(', ')} from replaced
    ) c`;

/**
 * The change of a row of `usage_rollup` is a change of its spans, whatever made it. An upsert fires both:
 * what it inserted is new alone, what it updated is the new less the old.
 */
const UPKEEP = `
create function add_usage_spans() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addSpans('added')}
  else
    ${addSpans(CHANGE)}
  end if;
  return null;
end $$;
drop trigger usage_rollup_inserted on usage_rollup;
drop trigger usage_rollup_updated on usage_rollup;
create trigger usage_rollup_inserted after insert on usage_rollup referencing new table as added
  for each statement execute function add_usage_spans();
create trigger usage_rollup_updated after update on usage_rollup
  referencing old table as replaced new table as changed
  for each statement execute function add_usage_spans();
`;

/**
 * Days alone did not help where those of a time zone begin at another hour. Processes of the release before
 * read them during a deployment, so their name stays, as a view, until a later release.
 */
const BEFORE = `
drop function add_usage_days();
drop table usage_day;
create view usage_day as
  select (start at time zone 'utc')::date as day, user_id, key_id, ${COLUMNS.join(', ')}
  from usage_comparison where span = 'day' and key_id <> '*';
`;
