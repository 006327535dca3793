// Indexes by which the losses of a day are found.
import { Migration } from '@mikro-orm/migrations';

export class Migration060LossIndexes extends Migration {
  override up(): void {
    this.addSql(LOSSES);
  }
}

/** Few rows have a loss, and get their entry when they are settled. */
const LOSSES = `
create index chat_call_losses on chat_call (settled_at) where loss > 0;
create index task_attempt_losses on task_attempt (settled_at) where loss > 0;
`;
