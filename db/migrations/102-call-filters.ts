// Indexes for filters of lists that read whole tables without: calls by model, key and error, codes by label.
import { Migration } from '@mikro-orm/migrations';

export class Migration102CallFilters extends Migration {
  override up(): void {
    this.addSql(CALLS);
    this.addSql(CODES);
  }
}

/**
 * One index for models and keys: PostgreSQL 18 finds a key's calls by looking into each of the user's models.
 * A call gets its entry once, when it has ended, which costs 10 to 20 µs. Without it, a rare model of a user
 * with 100,000 of 1,000,000 calls was looked for in all of them, for a second. Calls that ended well have no
 * error.
 */
const CALLS = `
create index if not exists chat_call_filters on chat_call (user_id, model, key_id, id desc) where settled_at is not null;
create index if not exists chat_call_error on chat_call (user_id, error_code, id desc) where error_code is not null;
`;

const CODES = `create index if not exists redeem_code_label on redeem_code (label, id desc);`;
