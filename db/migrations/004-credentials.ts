// Several credentials per family: which one has which job, and which one rests.
import { Migration } from '@mikro-orm/migrations';

export class Migration004Credentials extends Migration {
  override up(): void {
    this.addSql(`
      alter table submission add column family text, add column credential text;
      create index submission_credential on submission (family, credential) where state in ('sending', 'accepted');
      create table credential_rest (
        family text not null,
        credential text not null,
        reason text not null check (reason in ('auth', 'quota', 'rate', 'concurrency')),
        rests_until timestamptz not null,
        primary key (family, credential)
      );
    `);
  }
}
