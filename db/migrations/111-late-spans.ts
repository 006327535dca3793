// Sums of usage reach their hours, days and months when their quarter of an hour is over, and no longer with
// each round of the sweeper.
import { Migration } from '@mikro-orm/migrations';
import { addSpans } from './103-usage-six-hours.ts';

export class Migration111LateSpans extends Migration {
  override up(): void {
    this.addSql(MARK);
    this.addSql(UPKEEP);
  }
}

/**
 * Whether a row is in the sums of its spans. True unless a statement says otherwise: a process of the release
 * before adds to spans at once, as it did. What is in none is read beside them, by the index of the next
 * migration, which would lock readers out here.
 */
const MARK = `
alter table usage_rollup add column is_spanned boolean not null default true;
`;

const COLUMNS = [
  ...['credits', 'loss', 'tasks', 'calls', 'failed', 'prompt_tokens', 'completion_tokens'],
  ...['images', 'seconds'],
];
const NAMES = COLUMNS.join(', ');
const NEGATED = COLUMNS.map((name) => `-${name}`).join(', ');

/** An update that marks a row adds all of it, since nothing of it was in them before. */
const CHANGE = `(
      select user_id, bucket, key_id, kind, model, family, ${NAMES} from changed where is_spanned
      union all
      select user_id, bucket, key_id, kind, model, family, ${NEGATED} from replaced where is_spanned
    ) c`;

const UPKEEP = `
create or replace function add_usage_spans() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addSpans('(select * from added where is_spanned) c')}
  else
    ${addSpans(CHANGE)}
  end if;
  return null;
end $$;
`;
