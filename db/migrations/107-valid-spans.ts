// Validates the spans of the sums of usage, which the migration before replaced under a lock: here the rows
// are read while others write.
import { Migration } from '@mikro-orm/migrations';

export class Migration107ValidSpans extends Migration {
  override up(): void {
    for (const table of ['usage_span', 'usage_comparison'])
      this.addSql(`alter table ${table} validate constraint ${table}_span_check`);
  }
}
