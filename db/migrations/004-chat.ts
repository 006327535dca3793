// Chat calls: one row for each, written open when its credits are reserved and completed when it is settled.
import { Migration } from '@mikro-orm/migrations';

export class Migration004Chat extends Migration {
  override up(): void {
    this.addSql(CALLS);
  }
}

/**
 * The primary key begins with the user: it serves the owner's list too. The other index holds the calls
 * that run, for the sweeper.
 */
const CALLS = `
create table chat_call (
  user_id text not null, -- with its key: the statement that writes the row has locked both
  id text not null,
  key_id text not null,
  request_id text not null,
  model text not null,
  stream boolean not null,
  status text not null default 'open' check (status in ('open', 'completed', 'failed', 'cancelled')),
  credits_reserved bigint not null check (credits_reserved >= 0),
  credits_charged bigint not null default 0 check (credits_charged between 0 and credits_reserved),
  loss bigint not null default 0 check (loss >= 0),
  day date not null,
  lease_until timestamptz not null,
  known_charge bigint not null default 0 check (known_charge between 0 and credits_reserved),
  prompt_tokens integer check (prompt_tokens >= 0),
  completion_tokens integer check (completion_tokens >= 0),
  is_abandoned boolean not null default false,
  billing_basis text check (billing_basis in ('upstream', 'estimated', 'none')),
  latency_ms integer,
  upstream_request_id text,
  error_code text,
  error_message text,
  tried jsonb,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  primary key (user_id, id),
  check ((status = 'open') = (settled_at is null)),
  check (status <> 'open' or credits_charged = 0),
  check (status = 'open' or (billing_basis is not null and latency_ms is not null and tried is not null))
) with (fillfactor = 70);
create index chat_call_lease on chat_call (lease_until) where status = 'open';
`;
