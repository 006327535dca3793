// Chat calls: reservations without a task, reserved and settled many at a time, and one record for each call.
import { Migration } from '@mikro-orm/migrations';
import { RESERVE_CALLS, SETTLE_CALLS } from './005-chat-functions.ts';

export class Migration005Chat extends Migration {
  override up(): void {
    this.addSql(RESERVATIONS);
    this.addSql(CALLS);
    this.addSql(BALANCE_CHECKS);
    this.addSql(RESERVE_CALLS);
    this.addSql(SETTLE_CALLS);
    this.addSql('alter table submission add column output_text text');
  }
}

/**
 * Checks that a transaction sums to zero once per statement instead of once per row: with many calls in one
 * statement the rows' triggers were half of its cost. A transaction and its entries come in one statement.
 */
const BALANCE_CHECKS = `
drop trigger ledger_transaction_balances on ledger_transaction;
drop trigger ledger_entry_balances on ledger_entry;
drop function guard_ledger_balance();
drop function guard_late_entry();
create function guard_transactions() returns trigger language plpgsql as $$
declare
  unbalanced text;
begin
  select t.id into unbalanced from added t
  where (select count(*) < 2 or sum(e.amount) <> 0 from ledger_entry e where e.transaction_id = t.id) limit 1;
  if unbalanced is not null then
    raise exception 'ledger transaction % does not balance', unbalanced using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger ledger_transactions_balance after insert on ledger_transaction
  referencing new table as added for each statement execute function guard_transactions();
create function guard_entries() returns trigger language plpgsql as $$
declare
  unbalanced text;
begin
  select transaction_id into unbalanced from added group by transaction_id having sum(amount) <> 0 limit 1;
  if unbalanced is not null then
    raise exception 'ledger transaction % does not balance', unbalanced using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger ledger_entries_balance after insert on ledger_entry
  referencing new table as added for each statement execute function guard_entries();
`;

/** A reservation belongs to a task's attempt or to a chat call, which has a lease and a known charge. */
const RESERVATIONS = `
alter table reservation
  alter column task_id drop not null,
  alter column attempt drop not null,
  add column request_id text,
  add column model text,
  add column stream boolean,
  add column lease_until timestamptz,
  add column known_charge bigint not null default 0 check (known_charge >= 0),
  add column known_prompt_tokens integer,
  add column known_completion_tokens integer,
  add check ((task_id is null) = (attempt is null)),
  add check ((task_id is null) = (lease_until is not null)),
  add check (task_id is not null or (request_id is not null and model is not null and stream is not null));
create index reservation_lease on reservation (lease_until) where state = 'open' and lease_until is not null;
`;

const CALLS = `
create table chat_call (
  id text primary key,
  reservation_id text not null unique references reservation (id),
  request_id text not null,
  upstream_request_id text,
  user_id text not null, -- with its key: the reservation refers to both
  key_id text not null,
  model text not null,
  stream boolean not null,
  status text not null check (status in ('completed', 'failed', 'cancelled')),
  prompt_tokens integer check (prompt_tokens >= 0),
  completion_tokens integer check (completion_tokens >= 0),
  credits_reserved bigint not null,
  credits_charged bigint not null check (credits_charged between 0 and credits_reserved),
  billing_basis text not null check (billing_basis in ('upstream', 'estimated', 'none')),
  latency_ms integer not null,
  error_code text,
  error_message text,
  tried jsonb not null default '[]',
  created_at timestamptz not null default now()
);
create index chat_call_user on chat_call (user_id, id desc);
`;
