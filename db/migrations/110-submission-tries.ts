// Tells the tries of a submission apart: who wrote an intent whose answer was lost finds it as its own.
import { Migration } from '@mikro-orm/migrations';

export class Migration110SubmissionTries extends Migration {
  override up(): void {
    this.addSql('alter table submission add column try_id text');
  }
}
