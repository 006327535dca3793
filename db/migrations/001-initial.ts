// The first schema: users, keys, sessions, the task log, the double-entry ledger and the rules that guard it.
import { Migration } from '@mikro-orm/migrations';

export class Migration001Initial extends Migration {
  override up(): void {
    this.addSql(IDENTITY);
    this.addSql(TASKS);
    this.addSql(TASK_TRANSITIONS);
    this.addSql(LEDGER);
    this.addSql(LEDGER_RULES);
  }
}

const IDENTITY = `
create table app_user (
  id text primary key,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  permissions text[] not null default '{}',
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);
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
  created_at timestamptz not null default now()
);
create index api_key_by_user on api_key (user_id);
create table session (
  id text primary key,
  user_id text not null references app_user (id),
  secret_key_id text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index session_by_user on session (user_id);
`;

const TASKS = `
create table task (
  id text primary key,
  user_id text not null references app_user (id),
  key_id text references api_key (id),
  mode text not null check (mode in ('text', 'image', 'video')),
  model text not null,
  family text not null,
  adapter text not null,
  upstream_model text not null,
  status text not null default 'queued' check (status in ('queued', 'in_progress', 'completed', 'failed', 'cancelled')),
  progress smallint not null default 0 check (progress between 0 and 100),
  attempt integer not null default 1 check (attempt >= 1),
  ordered jsonb not null,
  price jsonb not null,
  credits_estimate bigint not null check (credits_estimate >= 0),
  credits_charged bigint not null default 0 check (credits_charged between 0 and credits_estimate),
  request_payload jsonb not null,
  outputs jsonb not null default '[]',
  output_text text,
  upstream_task_id text,
  upstream_request_id text,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  admitted_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  cancel_requested_at timestamptz,
  swept_at timestamptz,
  check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  check (status = 'completed' or credits_charged = 0)
);
create index task_user on task (user_id, id desc);
create index task_user_open on task (user_id, status) where status in ('queued', 'in_progress');
create index task_open on task (updated_at) where status in ('queued', 'in_progress');
create index task_completed on task (completed_at) where completed_at is not null;
create table task_request (
  task_id text primary key references task (id),
  secret_key_id text not null,
  prompt bytea not null,
  body bytea
);
create index task_request_kept on task_request (task_id) where body is not null;
create table task_event (
  id bigint generated always as identity primary key,
  task_id text not null references task (id),
  attempt integer not null,
  event text not null,
  detail text,
  at timestamptz not null default clock_timestamp()
);
create index task_event_task on task_event (task_id, id);
create table submission (
  task_id text not null references task (id),
  attempt integer not null,
  state text not null check (state in ('sending', 'not_received', 'accepted', 'succeeded', 'ended')),
  handle jsonb,
  results bytea,
  results_secret_key_id text,
  evidence jsonb,
  outputs jsonb,
  error_code text,
  error_text text,
  sent_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (task_id, attempt)
);
`;

const TASK_TRANSITIONS = `
create function guard_task_transition() returns trigger language plpgsql as $$
begin
  if old.status <> new.status and not (
    (old.status = 'queued' and new.status in ('in_progress', 'failed', 'cancelled')) or
    (old.status = 'in_progress' and new.status in ('completed', 'failed', 'cancelled')) or
    (old.status = 'failed' and new.status = 'queued' and new.attempt = old.attempt + 1)
  ) then
    raise exception 'a task may not go from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  if new.attempt = old.attempt and new.progress < old.progress then
    raise exception 'the progress of a task may not fall' using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger task_transition before update on task for each row execute function guard_task_transition();
`;

const LEDGER = `
create table account (
  user_id text primary key references app_user (id),
  balance bigint not null default 0,
  reserved bigint not null default 0 check (reserved >= 0),
  total_granted bigint not null default 0,
  total_charged bigint not null default 0,
  sequence bigint not null default 0,
  frozen_at timestamptz,
  updated_at timestamptz not null default now(),
  check (balance - reserved >= 0)
) with (fillfactor = 50);
create table reservation (
  id text primary key,
  user_id text not null references account (user_id),
  key_id text references api_key (id),
  task_id text not null references task (id),
  attempt integer not null,
  amount bigint not null check (amount >= 0),
  state text not null default 'open' check (state in ('open', 'charged', 'released')),
  charged bigint,
  loss bigint not null default 0 check (loss >= 0),
  refunded bigint not null default 0 check (refunded >= 0),
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  unique (task_id, attempt),
  check ((state = 'charged') = (charged is not null)),
  check ((state = 'open') = (settled_at is null)),
  check (charged is null or charged between 0 and amount),
  check (refunded <= coalesce(charged, 0))
);
create index reservation_open on reservation (user_id) where state = 'open';
create table ledger_transaction (
  id text primary key,
  kind text not null check (kind in ('grant', 'redeem', 'charge', 'refund', 'adjustment')),
  idempotency_key text not null unique,
  reservation_id text references reservation (id),
  task_id text,
  request_id text,
  key_id text,
  model text,
  description text not null,
  created_at timestamptz not null default now()
);
create table ledger_entry (
  id text primary key,
  transaction_id text not null references ledger_transaction (id),
  account_id text not null,
  amount bigint not null check (amount <> 0),
  account_sequence bigint,
  balance_after bigint,
  unique (account_id, account_sequence),
  check ((account_id like 'operator:%') = (account_sequence is null)),
  check ((account_sequence is null) = (balance_after is null))
);
create index ledger_entry_transaction on ledger_entry (transaction_id);
`;

const LEDGER_RULES = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed; a correction is a new transaction', tg_table_name
    using errcode = 'restrict_violation';
end $$;
create trigger ledger_entry_append_only before update or delete on ledger_entry for each row execute function refuse_change();
create trigger ledger_entry_no_truncate before truncate on ledger_entry execute function refuse_change();
create trigger ledger_transaction_append_only before update or delete on ledger_transaction for each row execute function refuse_change();
create trigger ledger_transaction_no_truncate before truncate on ledger_transaction execute function refuse_change();

create function guard_ledger_balance() returns trigger language plpgsql as $$
declare
  total bigint;
  entries integer;
begin
  select coalesce(sum(amount), 0), count(*) into total, entries from ledger_entry where transaction_id = new.id;
  if total <> 0 or entries < 2 then
    raise exception 'ledger transaction % does not balance', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_transaction_balances after insert on ledger_transaction
  deferrable initially deferred for each row execute function guard_ledger_balance();

create function guard_late_entry() returns trigger language plpgsql as $$
declare
  total bigint;
begin
  select sum(amount) into total from ledger_entry where transaction_id = new.transaction_id;
  if total <> 0 then
    raise exception 'ledger transaction % does not balance', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entry_balances after insert on ledger_entry
  deferrable initially deferred for each row execute function guard_late_entry();
`;
