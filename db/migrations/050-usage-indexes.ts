// Indexes by which a usage summary finds what ended in its period.
import { Migration } from '@mikro-orm/migrations';

export class Migration050UsageIndexes extends Migration {
  override up(): void {
    this.addSql(OF_A_USER);
    this.addSql(OF_ALL_USERS);
  }
}

/** Each gets its entry once, when the row is written or has ended. */
const OF_A_USER = `
create index ledger_transfer_time on ledger_transfer (account_id, created_at);
create index task_user_completed on task (user_id, completed_at) where completed_at is not null;
create index chat_call_settled on chat_call (user_id, settled_at) where settled_at is not null;
`;

/** Rows stand in the order of these times, nearly, so that a few bytes for many pages find them. */
const OF_ALL_USERS = `
create index ledger_transfer_times on ledger_transfer using brin (created_at) with (autosummarize = on);
create index chat_call_times on chat_call using brin (settled_at) with (autosummarize = on);
`;
