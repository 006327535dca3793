// The task log with its encrypted requests and timeline, what was handed over to vendors, and cooldowns.
import { Migration } from '@mikro-orm/migrations';

export class Migration002Tasks extends Migration {
  override up(): void {
    this.addSql(TASKS);
    this.addSql(TRANSITIONS);
    this.addSql(SUBMISSIONS);
  }
}

/**
 * Rows that every task writes refer to no other table: the statement that writes them has read the parent.
 */
const TASKS = `
create table task (
  id text primary key,
  user_id text not null, -- with its key: the statement that creates the task has locked both
  key_id text,
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
) with (fillfactor = 70);
create index task_user on task (user_id, id desc);
create index task_open on task (updated_at) where status in ('queued', 'in_progress');
create index task_cancel_requested on task (cancel_requested_at)
  where status in ('queued', 'in_progress') and cancel_requested_at is not null;
create index task_completed on task (completed_at) where completed_at is not null;
create table task_request (
  task_id text primary key,
  secret_key_id text not null,
  prompt bytea not null,
  body bytea
);
create index task_request_kept on task_request (task_id) where body is not null;
create table task_event (
  id bigint generated always as identity primary key,
  task_id text not null,
  attempt integer not null,
  event text not null,
  detail text,
  at timestamptz not null default clock_timestamp()
);
create index task_event_task on task_event (task_id, id);
`;

const TRANSITIONS = `
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

/** A vendor's job belongs to one submission: what a look-up finds cannot be another submission's job. */
const SUBMISSIONS = `
create table submission (
  task_id text not null references task (id),
  attempt integer not null,
  state text not null check (state in ('sending', 'not_received', 'accepted', 'succeeded', 'ended')),
  family text,
  credential text,
  handle jsonb,
  results bytea,
  results_secret_key_id text,
  evidence jsonb,
  outputs jsonb,
  output_text text,
  error_code text,
  error_text text,
  sent_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (task_id, attempt)
);
create index submission_credential on submission (family, credential) where state in ('sending', 'accepted');
create unique index submission_job on submission (family, credential, (handle ->> 'id'))
  where handle is not null and credential is not null;
create table credential_rest (
  family text not null,
  credential text not null,
  reason text not null check (reason in ('auth', 'quota', 'rate', 'concurrency')),
  rests_until timestamptz not null,
  primary key (family, credential)
);
`;
