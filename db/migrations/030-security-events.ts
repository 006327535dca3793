// What users read about their own security: whose account an audit entry concerns, and where sessions are
// used.
import { Migration } from '@mikro-orm/migrations';

export class Migration030SecurityEvents extends Migration {
  override up(): void {
    this.addSql(AUDIT);
    this.addSql(SESSIONS);
  }
}

/** Entries written before name no user: they stay with the administrators. */
const AUDIT = `
alter table audit_entry add column user_id text references app_user (id);
create index audit_entry_by_user on audit_entry (user_id, id desc) where user_id is not null;
create index audit_entry_by_actor on audit_entry (actor_id, id desc) where actor_id is not null;
create index audit_entry_by_target on audit_entry (target_id, id desc);
create index audit_entry_by_login on audit_entry (user_id, ip) where action = 'LOG_IN';
`;

const SESSIONS = `
alter table session add column ip text, add column user_agent text;
`;
