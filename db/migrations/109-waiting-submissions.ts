// Finds the work that waits for a place at a vendor: who has half of the places leaves the others to it.
import { Migration } from '@mikro-orm/migrations';

export class Migration109WaitingSubmissions extends Migration {
  override up(): void {
    this.addSql(
      `create index if not exists submission_waiting on submission (family, updated_at)
       where state = 'not_received' and credential is null`,
    );
  }
}
