// Redeem codes and their redemptions.
import { Migration } from '@mikro-orm/migrations';

export class Migration005RedeemCodes extends Migration {
  override up(): void {
    this.addSql(`
      create table redeem_code (
        id text primary key,
        label text not null,
        secret_key_id text not null,
        hash bytea not null unique,
        hint text not null,
        credits bigint not null check (credits > 0),
        max_uses integer not null check (max_uses >= 1),
        per_user_limit integer check (per_user_limit >= 1),
        used_count integer not null default 0 check (used_count between 0 and max_uses),
        expires_at timestamptz,
        disabled_at timestamptz,
        created_by text not null references app_user (id),
        created_at timestamptz not null default now()
      );
      create table redemption (
        id text primary key,
        code_id text not null references redeem_code (id),
        user_id text not null references app_user (id),
        transfer_sequence bigint not null, -- with the user: the transfer that granted the credits
        credits bigint not null,
        created_at timestamptz not null default now(),
        unique (user_id, transfer_sequence),
        foreign key (user_id, transfer_sequence) references ledger_transfer (account_id, sequence)
      );
      create index redemption_by_code on redemption (code_id, user_id);
    `);
  }
}
