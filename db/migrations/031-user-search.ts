// An index for finding users by the beginning of their e-mail address, in any collation.
import { Migration } from '@mikro-orm/migrations';

export class Migration031UserSearch extends Migration {
  override up(): void {
    this.addSql('create index app_user_by_email_beginning on app_user (email text_pattern_ops)');
  }
}
