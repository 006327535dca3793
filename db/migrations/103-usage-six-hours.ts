// Sums of usage by six hours of UTC: with them days of other time zones need few hours.
import { Migration } from '@mikro-orm/migrations';

export class Migration103UsageSixHours extends Migration {
  override async up(): Promise<void> {
    // Whatever adds sums takes this lock first: none is added by the old trigger, beside what is made here.
    await this.execute('select from usage_watermark for update');
    for (const table of ['usage_span', 'usage_comparison']) {
      this.addSql(`alter table ${table} drop constraint ${table}_span_check`);
      this.addSql(`alter table ${table} add constraint ${table}_span_check
        check (span in ('hour', 'six_hours', 'day', 'month')) not valid`);
    }
    this.addSql(UPKEEP);
    for (const statement of await listSixHours((text) => this.execute(text))) this.addSql(statement);
  }
}

const COLUMNS = [
  ...['credits', 'loss', 'tasks', 'calls', 'failed', 'prompt_tokens', 'completion_tokens'],
  ...['images', 'seconds'],
];
const NAMES = COLUMNS.join(', ');
const SUMMED = COLUMNS.map((name) => `sum(${name})`).join(', ');
const ADDED = COLUMNS.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ');
const EACH_SPAN = `(values ('hour'), ('six_hours'), ('day'), ('month')) each (span)`;
const sixHours = (at: string): string => `date_bin('6 hours', ${at}, '1970-01-01 00:00Z')`;
const START = `case span when 'six_hours' then ${sixHours('bucket')} else date_trunc(span, bucket, 'UTC') end`;

/** Adds rows of `usage_rollup` to the sums of their spans, oldest first. */
export function addSpans(source: string): string {
  return `
    insert into usage_span as s (user_id, span, start, key_id, kind, model, family, ${NAMES})
    select user_id, span, ${START}, key_id, kind, model, family, ${SUMMED}
    from ${source} cross join ${EACH_SPAN}
    group by 1, 2, 3, 4, 5, 6, 7 order by 3, 1, 2, 4, 5, 6, 7
    on conflict (user_id, span, start, key_id, kind, model, family) do update set ${ADDED};
    insert into usage_comparison as s (span, start, user_id, key_id, ${NAMES})
    select span, ${START}, user_id, coalesce(of_all, key_id), ${SUMMED}
    from ${source} cross join ${EACH_SPAN} cross join (values ('*'), (null)) key (of_all)
    where user_id <> '' group by 1, 2, 3, 4 order by 2, 1, 3, 4
    on conflict (span, start, user_id, key_id) do update set ${ADDED};`;
}

const CHANGE = `(
      select user_id, bucket, key_id, kind, model, family, ${NAMES} from changed
      union all
      select user_id, bucket, key_id, kind, model, family, ${COLUMNS.map((name) => `-${name}`).join(', ')} from replaced
    ) c`;

const UPKEEP = `
create or replace function add_usage_spans() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addSpans('added')}
  else
    ${addSpans(CHANGE)}
  end if;
  return null;
end $$;
`;

/** So many accounts have their sums made in one statement: a year of each is some thousand rows. */
const ACCOUNTS_PER_STATEMENT = 50;

/**
 * The statements that make the sums of what was carried forward before there were six hours, each of so few
 * accounts, or of one day, that it ends within the time for a statement.
 */
export async function listSixHours(
  read: (text: string) => Promise<Record<string, string>[]>,
): Promise<string[]> {
  const bounds = await read(`
    select user_id as last from (select user_id, row_number() over (order by user_id) as n from account) a
    where n % ${ACCOUNTS_PER_STATEMENT} = 0 order by 1`);
  const days = await read(`
    select distinct (start at time zone 'utc')::date::text as day from usage_span
    where user_id = '' and span = 'hour' order by 1`);
  const lasts = ['', ...bounds.map(({ last }) => last ?? '')];
  return [
    spansOf(`user_id = ''`),
    ...lasts.map((after, index) => {
      const upTo = lasts[index + 1];
      return spansOf(`user_id > '${after}' ${upTo === undefined ? '' : `and user_id <= '${upTo}'`}`);
    }),
    ...days.map(({ day }) => comparisonsOf(`'${day} 00:00Z'::timestamptz`)),
  ];
}

const spansOf = (users: string): string => `
insert into usage_span (user_id, span, start, key_id, kind, model, family, ${NAMES})
select user_id, 'six_hours', ${sixHours('start')}, key_id, kind, model, family, ${SUMMED}
from usage_span where span = 'hour' and ${users} group by 1, 3, 4, 5, 6, 7`;

const comparisonsOf = (day: string): string => `
insert into usage_comparison (span, start, user_id, key_id, ${NAMES})
select 'six_hours', ${sixHours('start')}, user_id, key_id, ${SUMMED}
from usage_comparison where span = 'hour' and start >= ${day} and start < ${day} + interval '1 day' group by 2, 3, 4`;
