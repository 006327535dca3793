// Idempotency keys: which request happened under which key, and what it answered.
import { Migration } from '@mikro-orm/migrations';

export class Migration007Idempotency extends Migration {
  override up(): void {
    this.addSql(`
      create table idempotency_key (
        id text primary key,
        user_id text not null references app_user (id),
        method text not null,
        path text not null,
        key_hash bytea not null,
        fingerprint bytea not null,
        subject_id text,
        answer bytea,
        answer_secret_key_id text,
        created_at timestamptz not null default now(),
        leased_until timestamptz not null,
        unique (user_id, method, path, key_hash),
        check ((answer is null) = (answer_secret_key_id is null))
      );
      create index idempotency_key_by_age on idempotency_key (created_at);
    `);
  }
}
