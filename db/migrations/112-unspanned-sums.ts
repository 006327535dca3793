// An index of the sums of usage that are in no hour, day or month yet.
import { Migration } from '@mikro-orm/migrations';

export class Migration112UnspannedSums extends Migration {
  override up(): void {
    this.addSql(
      'create index if not exists usage_rollup_unspanned on usage_rollup (bucket, user_id) where not is_spanned',
    );
  }
}
