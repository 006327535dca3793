// Sums of usage by quarter of an hour, how far they are carried forward, and what takes back what was
// counted.
import { Migration } from '@mikro-orm/migrations';

export class Migration070UsageRollup extends Migration {
  override up(): void {
    this.addSql(SUMS);
    this.addSql(MARKS);
    this.addSql(CORRECTIONS);
  }
}

/**
 * By user, key, kind, model and family; of all users together once more with the user ''. Empty texts stand
 * for what is unknown: nulls would not be one row. Every zone's days begin with a quarter of an hour of UTC.
 */
const SUMS = `
create table usage_rollup (
  user_id text not null,
  bucket timestamptz not null,
  key_id text not null,
  kind text not null,
  model text not null,
  family text not null,
  credits bigint not null default 0,
  loss bigint not null default 0,
  tasks bigint not null default 0,
  calls bigint not null default 0,
  failed bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  images numeric not null default 0,
  seconds numeric not null default 0,
  primary key (user_id, bucket, key_id, kind, model, family)
) with (fillfactor = 80);
create index usage_rollup_bucket on usage_rollup using brin (bucket) with (pages_per_range = 16, autosummarize = on);
`;

/** Transfers are in the sums up to their account's sequence, ends of tasks and calls up to one time. */
const MARKS = `
create table usage_mark (
  user_id text primary key,
  sequence bigint not null check (sequence > 0),
  charged bigint not null
) with (fillfactor = 50);
create table usage_watermark (
  id boolean primary key default true check (id),
  until timestamptz not null
);
insert into usage_watermark (until) values ('-infinity');
`;

/** A failed task that is tried again has not ended any more (`db/usage/correct-usage.sql`). */
const CORRECTIONS = `
create function uncount_task() returns trigger language plpgsql as $$
begin
  perform correct_usage(old.completed_at, old.user_id, old.key_id, old.mode, old.model, old.family, -1,
    -(old.status = 'failed')::integer, 0, 0, 0);
  return null;
end $$;
create trigger task_retried after update of completed_at on task for each row
  when (old.completed_at is not null and new.completed_at is null) execute function uncount_task();
`;
