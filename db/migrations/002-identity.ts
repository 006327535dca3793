// Keys with quotas and daily budgets, step-up and second factors, redeem codes, and the audit log.
import { Migration } from '@mikro-orm/migrations';

export class Migration002Identity extends Migration {
  override up(): void {
    this.addSql(KEY_LIMITS);
    this.addSql(STEP_UP);
    this.addSql(REDEEM_CODES);
    this.addSql(AUDIT);
  }
}

/** What existing keys spent is counted from their reservations. */
const KEY_LIMITS = `
alter table reservation add column day date;
update reservation set day = (created_at at time zone 'utc')::date;
alter table reservation alter column day set not null,
  alter column day set default (now() at time zone 'utc')::date;
alter table api_key
  add column quota bigint check (quota >= 0),
  add column used bigint not null default 0 check (used >= 0),
  add column reserved bigint not null default 0 check (reserved >= 0),
  add column daily_budget bigint check (daily_budget >= 0),
  add column day date not null default (now() at time zone 'utc')::date,
  add column day_used bigint not null default 0 check (day_used >= 0),
  add column day_reserved bigint not null default 0 check (day_reserved >= 0),
  add column last_used_at timestamptz;
update api_key k set used = s.used, reserved = s.reserved, day_used = s.day_used, day_reserved = s.day_reserved
from (
  select key_id,
    coalesce(sum(charged - refunded), 0) as used,
    coalesce(sum(amount) filter (where state = 'open'), 0) as reserved,
    coalesce(sum(charged - refunded) filter (where day = (now() at time zone 'utc')::date), 0) as day_used,
    coalesce(sum(amount) filter (where state = 'open' and day = (now() at time zone 'utc')::date), 0) as day_reserved
  from reservation where key_id is not null group by key_id
) s where s.key_id = k.id;
create index reservation_by_key on reservation (key_id) where state = 'open' and key_id is not null;
`;

const STEP_UP = `
alter table app_user
  add column totp_secret bytea,
  add column totp_secret_key_id text,
  add column totp_confirmed_at timestamptz,
  add column totp_last_step bigint not null default 0,
  add column verify_failures integer not null default 0,
  add column verify_locked_until timestamptz,
  add check ((totp_secret is null) = (totp_secret_key_id is null)),
  add check (totp_confirmed_at is null or totp_secret is not null);
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
alter table session
  add column verified_at timestamptz,
  add column verified_until timestamptz,
  add column verify_method text check (verify_method in ('password', 'totp')),
  add check ((verified_at is null) = (verified_until is null)),
  add check ((verified_at is null) = (verify_method is null));
`;

const REDEEM_CODES = `
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
  transaction_id text not null unique references ledger_transaction (id),
  credits bigint not null,
  created_at timestamptz not null default now()
);
create index redemption_by_code on redemption (code_id, user_id);
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
create table ledger_violation (
  rule text not null,
  subject text not null,
  user_id text references app_user (id),
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (rule, subject)
);
create trigger audit_entry_append_only before update or delete on audit_entry for each row execute function refuse_change();
create trigger audit_entry_no_truncate before truncate on audit_entry execute function refuse_change();
`;
