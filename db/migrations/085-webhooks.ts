// Webhooks: the endpoints of users, the events for them, and what is delivered where.
import { Migration } from '@mikro-orm/migrations';

export class Migration085Webhooks extends Migration {
  override up(): void {
    this.addSql(ENDPOINTS);
    this.addSql(EVENTS);
    this.addSql(DELIVERIES);
  }
}

const ENDPOINTS = `
create table webhook_endpoint (
  id text primary key,
  user_id text not null references app_user (id),
  url text not null,
  description text,
  events text[] not null check (cardinality(events) > 0),
  balance_below bigint check (balance_below > 0),
  secret_key_id text not null,
  secrets bytea not null,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
  failing_since timestamptz,
  last_success_at timestamptz,
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoint_of_user on webhook_endpoint (user_id, id);
create index webhook_endpoint_by_balance on webhook_endpoint (user_id) where balance_below is not null;
`;

/** `task`: the row of the task at its end, since a retry changes it. */
const EVENTS = `
create table webhook_event (
  id text primary key,
  user_id text not null,
  type text not null,
  task_id text,
  task jsonb,
  data jsonb,
  created_at timestamptz not null default now()
);
create index webhook_event_by_time on webhook_event (created_at);
`;

/**
 * The outbox and the log of deliveries in one. No foreign keys: the statements that end tasks and charge
 * calls write these rows, and must wait for nothing. A row whose endpoint was deleted is never sent.
 */
const DELIVERIES = `
create table webhook_delivery (
  id text primary key,
  event_id text not null,
  endpoint_id text not null,
  user_id text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  relay_after timestamptz not null default now(),
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  delivered_at timestamptz,
  failure text,
  answer_status integer,
  answer_body text,
  answer_ms integer
);
create index webhook_delivery_of_endpoint on webhook_delivery (endpoint_id, id);
create index webhook_delivery_pending on webhook_delivery (endpoint_id, relay_after) where state = 'pending';
create index webhook_delivery_of_event on webhook_delivery (event_id);
`;
