// A vendor's job belongs to one submission: whoever finds a job by looking cannot take somebody else's.
import { Migration } from '@mikro-orm/migrations';

export class Migration010OneJobEach extends Migration {
  override up(): void {
    this.addSql(`
      create unique index submission_job on submission (family, credential, (handle ->> 'id'))
      where handle is not null and credential is not null;
    `);
  }
}
