// Indexes for failures by code in a period: they hold all that is counted, and only what failed.
import { Migration } from '@mikro-orm/migrations';

export class Migration104FailureIndexes extends Migration {
  override up(): void {
    this.addSql(
      `create index task_failures on task (completed_at, error_code, user_id) where status = 'failed'`,
    );
    this.addSql(
      `create index chat_call_failures on chat_call (settled_at, error_code, user_id) where status = 'failed'`,
    );
  }
}
