// Indexes for the filters of task lists, so that each list reads about as many rows as it answers.
import { Migration } from '@mikro-orm/migrations';

export class Migration021ListIndexes extends Migration {
  override up(): void {
    this.addSql(OF_A_USER);
    this.addSql(OF_ALL_USERS);
  }
}

/**
 * The id comes last in each: it is the order of the list, and its beginning is the time. Every change of a
 * task writes all indexes, so a filter has one only where it finds few of many: a kind and a common status
 * are found by reading the list.
 */
const OF_A_USER = `
create index task_user_model on task (user_id, model, id desc);
create index task_user_key on task (user_id, key_id, id desc) where key_id is not null;
create index task_user_unfinished on task (user_id, status, id desc) where status <> 'completed';
create index task_user_error on task (user_id, error_code, id desc) where error_code is not null;
`;

/** For administrators. A key's tasks are found by those of its user. */
const OF_ALL_USERS = `
create index task_unfinished on task (status, id desc) where status <> 'completed';
create index task_model on task (model, id desc);
create index task_error on task (error_code, id desc) where error_code is not null;
`;
