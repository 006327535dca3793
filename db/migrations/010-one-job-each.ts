// A vendor's job belongs to one submission: a job that is found by a look-up cannot be another submission's.
import { Migration } from '@mikro-orm/migrations';

export class Migration010OneJobEach extends Migration {
  override up(): void {
    this.addSql(`
      create unique index submission_job on submission (family, credential, (handle ->> 'id'))
      where handle is not null and credential is not null;
    `);
  }
}
