// Indexes for failures by code in a period: they hold all that is counted, and only what failed. An operator
// may have made them before, without stopping writers.
import { Migration } from '@mikro-orm/migrations';

export class Migration104FailureIndexes extends Migration {
  override up(): void {
    this.addSql(
      `create index if not exists task_failures on task (completed_at, error_code, user_id) where status = 'failed'`,
    );
    this.addSql(
      `create index if not exists chat_call_failures on chat_call (settled_at, error_code, user_id) where status = 'failed'`,
    );
  }
}
