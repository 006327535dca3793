// Accounts and the spending of keys as narrow counters, reservations of tasks, and the append-only ledger.
import { Migration } from '@mikro-orm/migrations';

export class Migration003Ledger extends Migration {
  override up(): void {
    this.addSql(COUNTERS);
    this.addSql(DISABLED_MIRROR);
    this.addSql(ATTEMPTS);
    this.addSql(TRANSFERS);
    this.addSql(VIOLATIONS);
  }
}

/**
 * Every move updates these rows. They are narrow, half of each page stays free, and no index has a column
 * that changes, so that a new version of a row stays on its page and no index is written.
 */
const COUNTERS = `
create table account (
  user_id text primary key references app_user (id),
  balance bigint not null default 0,
  reserved bigint not null default 0 check (reserved >= 0),
  earmarked bigint not null default 0 check (earmarked >= 0),
  queued integer not null default 0 check (queued >= 0),
  running integer not null default 0 check (running >= 0),
  total_granted bigint not null default 0,
  total_charged bigint not null default 0,
  total_loss bigint not null default 0 check (total_loss >= 0),
  sequence bigint not null default 0,
  disabled_at timestamptz,
  frozen_at timestamptz,
  updated_at timestamptz not null default now(),
  constraint account_covers check (balance - reserved - earmarked >= 0) -- no overdraft, whatever the code does
) with (fillfactor = 50);
create table key_spending (
  key_id text primary key references api_key (id),
  quota bigint check (quota >= 0),
  daily_budget bigint check (daily_budget >= 0),
  used bigint not null default 0 check (used >= 0),
  reserved bigint not null default 0 check (reserved >= 0),
  earmarked bigint not null default 0 check (earmarked >= 0),
  day date not null default (now() at time zone 'utc')::date,
  day_used bigint not null default 0 check (day_used >= 0),
  day_reserved bigint not null default 0 check (day_reserved >= 0)
) with (fillfactor = 50);
`;

/** A disabled user spends nothing: the account knows it, so that no move has to lock the user's row. */
const DISABLED_MIRROR = `
create function mirror_disabled() returns trigger language plpgsql as $$
begin
  update account set disabled_at = new.disabled_at where user_id = new.id;
  return null;
end $$;
create trigger app_user_disabled after update of disabled_at on app_user for each row
  when (old.disabled_at is distinct from new.disabled_at) execute function mirror_disabled();
`;

/** The reservation of each attempt. Who pays, and the UTC day whose budget it counts in, never change. */
const ATTEMPTS = `
create table task_attempt (
  task_id text not null,
  attempt integer not null,
  user_id text not null,
  key_id text,
  amount bigint not null check (amount >= 0),
  state text not null default 'open' check (state in ('open', 'charged', 'released')),
  charged bigint,
  loss bigint not null default 0 check (loss >= 0),
  refunded bigint not null default 0 check (refunded >= 0),
  day date not null,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  primary key (task_id, attempt),
  check ((state = 'charged') = (charged is not null)),
  check ((state = 'open') = (settled_at is null)),
  check (charged is null or charged between 0 and amount), -- never more than was reserved
  check (refunded <= coalesce(charged, 0)) -- never more than was charged
);
create index task_attempt_open on task_attempt (created_at) where state = 'open';
`;

/**
 * One row moves the amount between a user's account and an account of the operator, so that all sides sum to
 * zero by construction. The operator's accounts are names: a row with a balance would be changed by all.
 */
const TRANSFERS = `
create table ledger_transfer (
  account_id text not null, -- the user; the statement that writes the row has locked the account
  sequence bigint not null check (sequence > 0),
  id text not null,
  operator_account text not null check (operator_account in ('operator:grants', 'operator:revenue')),
  kind text not null check (kind in ('grant', 'redeem', 'charge', 'refund', 'adjustment')),
  amount bigint not null check (amount <> 0),
  balance_after bigint not null check (balance_after >= 0),
  idempotency_key text,
  task_id text,
  attempt integer,
  call_id text,
  key_id text,
  model text,
  request_id text,
  description text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, sequence),
  check (kind not in ('grant', 'redeem', 'refund') or amount > 0),
  check (kind <> 'charge' or amount < 0),
  check (kind = 'charge' or idempotency_key is not null), -- charges happen once by the row they settle
  check ((task_id is null) = (attempt is null))
);
create unique index ledger_transfer_once on ledger_transfer (idempotency_key) where idempotency_key is not null;
create trigger ledger_transfer_append_only before update or delete on ledger_transfer
  for each row execute function refuse_change();
create trigger ledger_transfer_no_truncate before truncate on ledger_transfer execute function refuse_change();
`;

const VIOLATIONS = `
create table ledger_violation (
  rule text not null,
  subject text not null,
  user_id text,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (rule, subject)
);
`;
