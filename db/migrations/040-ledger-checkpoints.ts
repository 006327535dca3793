// How far the check of the ledger has come on each account, and the indexes by which it finds its rows.
import { Migration } from '@mikro-orm/migrations';

export class Migration040LedgerCheckpoints extends Migration {
  override up(): void {
    this.addSql(CHECKPOINTS);
    this.addSql(INDEXES);
  }
}

/** Sums over the transfers up to `sequence`, and the last call and change of a task that were looked at. */
const CHECKPOINTS = `
create table ledger_checkpoint (
  user_id text primary key,
  sequence bigint not null default 0,
  balance bigint not null default 0,
  granted bigint not null default 0,
  charged bigint not null default 0,
  keys jsonb not null default '{}',
  call_id text not null default '',
  task_xid xid8 not null default '0',
  task_id text not null default '',
  began_at timestamptz not null default now(),
  verified_at timestamptz not null
);
create index ledger_checkpoint_oldest on ledger_checkpoint (verified_at);
create index ledger_violation_open on ledger_violation (user_id) where resolved_at is null;
`;

/** None has a column that a move changes, except where the state of an attempt or a loss is recorded once. */
const INDEXES = `
create index task_attempt_user on task_attempt (user_id, state);
create index task_attempt_loss on task_attempt (user_id) include (loss) where loss > 0;
create index chat_call_loss on chat_call (user_id) include (loss) where loss > 0;
create index ledger_transfer_call on ledger_transfer (account_id, call_id) where call_id is not null;
create index ledger_transfer_attempt on ledger_transfer (task_id, attempt) where task_id is not null;
`;
