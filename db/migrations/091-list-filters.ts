// Indexes for the filters of lists that had none: kinds of tasks, and calls that did not end well.
import { Migration } from '@mikro-orm/migrations';

export class Migration091ListFilters extends Migration {
  override up(): void {
    this.addSql(TASKS);
    this.addSql(CALLS);
  }
}

/** The kind never changes. Who has made a hundred thousand images and no text asks for texts all the same. */
const TASKS = `
create index task_user_mode on task (user_id, mode, id desc);
create index task_mode on task (mode, id desc);
`;

/**
 * Calls that ended well have no entry, and cost nothing measurable. There is none for models and keys: its
 * entry would cost a call 25 µs of processor time in batches of 50 (PostgreSQL 18), a third more than the
 * writing of its row takes. Rare models and keys are found by reading the user's list.
 */
const CALLS = `
create index chat_call_unsuccessful on chat_call (user_id, status, id desc)
  where status in ('failed', 'cancelled');
`;
