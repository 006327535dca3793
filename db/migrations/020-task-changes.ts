// Which transaction changed a task last, so that readers of changes miss none that committed late.
import { Migration } from '@mikro-orm/migrations';

export class Migration020TaskChanges extends Migration {
  override up(): void {
    this.addSql(COLUMN);
    this.addSql(TRIGGER);
  }
}

/**
 * Transaction ids instead of times: a transaction may commit long after its `now()`, but a snapshot tells
 * for every id whether it was visible (db/changes.ts). Tasks from before this migration have none until
 * they change.
 */
const COLUMN = `
alter table task add column changed_xid xid8;
alter table task alter column changed_xid set default pg_current_xact_id();
create index task_changed on task (user_id, changed_xid) where changed_xid is not null;
`;

/** What the sweeper notes for itself is no change that a reader could see. */
const TRIGGER = `
create function note_task_change() returns trigger language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
create trigger task_changed before update on task for each row
  when (row(new.status, new.progress, new.attempt, new.cancel_requested_at, new.updated_at, new.outputs)
        is distinct from row(old.status, old.progress, old.attempt, old.cancel_requested_at, old.updated_at, old.outputs))
  execute function note_task_change();
`;
