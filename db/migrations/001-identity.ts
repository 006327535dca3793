// Users with their second factors, sessions and API keys, the audit log, and which functions are installed.
import { Migration } from '@mikro-orm/migrations';

export class Migration001Identity extends Migration {
  override up(): void {
    this.addSql(APPEND_ONLY);
    this.addSql(USERS);
    this.addSql(SESSIONS);
    this.addSql(KEYS);
    this.addSql(AUDIT);
    this.addSql(FUNCTIONS);
  }
}

/** For tables whose rows stand for ever. */
const APPEND_ONLY = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed; a correction is a new row', tg_table_name
    using errcode = 'restrict_violation';
end $$;
`;

const USERS = `
create table app_user (
  id text primary key,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  permissions text[] not null default '{}',
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  totp_secret bytea,
  totp_secret_key_id text,
  totp_confirmed_at timestamptz,
  totp_last_step bigint not null default 0,
  verify_failures integer not null default 0,
  verify_locked_until timestamptz,
  check ((totp_secret is null) = (totp_secret_key_id is null)),
  check (totp_confirmed_at is null or totp_secret is not null)
);
create table recovery_code (
  id text primary key,
  user_id text not null references app_user (id),
  secret_key_id text not null,
  hash bytea not null unique,
  used_at timestamptz
);
create index recovery_code_by_user on recovery_code (user_id);
create table login_flow (
  id text primary key,
  user_id text not null references app_user (id),
  secret_key_id text not null,
  hash bytea not null unique,
  failures integer not null default 0,
  expires_at timestamptz not null
);
`;

const SESSIONS = `
create table session (
  id text primary key,
  user_id text not null references app_user (id),
  secret_key_id text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  verified_at timestamptz,
  verified_until timestamptz,
  verify_method text check (verify_method in ('password', 'totp')),
  check ((verified_at is null) = (verified_until is null)),
  check ((verified_at is null) = (verify_method is null))
);
create index session_by_user on session (user_id);
`;

/** Who a key belongs to and what it may be used for. What it has spent: \`key_spending\`, in 003-ledger. */
const KEYS = `
create table api_key (
  id text primary key,
  user_id text not null references app_user (id),
  name text not null,
  secret_key_id text not null,
  hash bytea not null unique,
  prefix text not null,
  model_scope text[],
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_key_by_user on api_key (user_id);
`;

const AUDIT = `
create table audit_entry (
  id text primary key,
  action text not null,
  actor_id text references app_user (id),
  target_type text not null,
  target_id text not null,
  ip text,
  user_agent text,
  request_id text,
  detail jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index audit_entry_by_action on audit_entry (action, id desc);
create trigger audit_entry_append_only before update or delete on audit_entry for each row execute function refuse_change();
create trigger audit_entry_no_truncate before truncate on audit_entry execute function refuse_change();
`;

/** Every text of a function that was ever installed; see db/functions.ts. */
const FUNCTIONS = `
create table sql_function (
  name text not null,
  digest text not null,
  installed_at timestamptz not null default now(),
  primary key (name, digest)
);
`;
