// Remembers with which request a task's newest attempt was ordered, so that the ledger can name it.
import { Migration } from '@mikro-orm/migrations';

export class Migration100TaskRequests extends Migration {
  override up(): void {
    this.addSql('alter table task add column request_id text;');
  }
}
