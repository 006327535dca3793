// Uploaded files, and which tasks were ordered with them.
import { Migration } from '@mikro-orm/migrations';

export class Migration006Uploads extends Migration {
  override up(): void {
    this.addSql(`
      create table upload (
        id text primary key,
        user_id text not null references app_user (id),
        state text not null default 'ready' check (state in ('ready', 'removed')),
        filename text not null,
        content_type text not null,
        bytes bigint not null check (bytes > 0),
        sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
        created_at timestamptz not null default now(),
        expires_at timestamptz not null
      );
      create index upload_of_user on upload (user_id, id);
      create index upload_by_end on upload (expires_at);
      create index upload_removed on upload (id) where state = 'removed';

      create table upload_use (
        task_id text not null references task (id),
        upload_id text not null,
        primary key (task_id, upload_id)
      );
      create index upload_use_by_upload on upload_use (upload_id);
    `);
  }
}
