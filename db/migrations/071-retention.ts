// What is removed by age: how far that has come, and what the check of the ledger needs of what is gone.
import { Migration } from '@mikro-orm/migrations';

export class Migration071Retention extends Migration {
  override up(): void {
    this.addSql(PROGRESS);
    this.addSql(RESULTS);
    this.addSql(AUDIT);
  }
}

/**
 * Rows from before `removed_before` may be missing, of calls those with smaller ids than `before_id`;
 * nothing later ever is. What removed calls had lost stays as a sum, so that the account's own can be held
 * against it.
 */
const PROGRESS = `
create table retention (
  subject text primary key check (subject in ('result', 'task', 'call', 'audit_entry')),
  removed bigint not null default 0 check (removed >= 0),
  removed_before timestamptz not null,
  before_id text not null,
  finished_at timestamptz
);
create table removed_call (
  user_id text primary key,
  calls bigint not null check (calls > 0),
  loss bigint not null check (loss >= 0)
);
`;

/** One entry for each completed task, which leaves the index when its result is removed. */
const RESULTS = `
alter table task add column result_expired_at timestamptz;
create index task_result_kept on task (completed_at)
  where status = 'completed' and (outputs <> '[]' or output_text is not null);
`;

/** The log stays append-only, but for the removal by age, which says so in its transaction. */
const AUDIT = `
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.created_at < nullif(current_setting('svc.audit_removed_before', true), '')::timestamptz then
    return old;
  end if;
  raise exception 'rows of % are never changed or removed; a correction is a new row', tg_table_name
    using errcode = 'restrict_violation';
end $$;
drop trigger audit_entry_append_only on audit_entry;
create trigger audit_entry_append_only before update or delete on audit_entry
  for each row execute function refuse_audit_change();
`;
