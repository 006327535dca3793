// Remembers which videos their owner has deleted, until their files are gone and afterwards.
import { Migration } from '@mikro-orm/migrations';

export class Migration080DeletedVideos extends Migration {
  override up(): void {
    this.addSql(DELETED_VIDEOS);
  }
}

/** The row stays: it is what the charge was for. The index finds files that a crash has left behind. */
const DELETED_VIDEOS = `
alter table task add column deleted_at timestamptz;
create index task_deleted_with_files on task (id) where deleted_at is not null and outputs <> '[]';
`;
