// How young a row may be that processes remove by age: the owner of the tables decides it, not the processes.
import { Migration } from '@mikro-orm/migrations';

export class Migration092RetentionFloors extends Migration {
  override up(): void {
    this.addSql(FLOORS);
  }
}

/** Functions remove nothing that is younger, whatever the settings of a process say (`db/retention/`). */
const FLOORS = `
create table retention_floor (
  subject text primary key check (subject in ('audit_entry', 'call', 'task')),
  kept interval not null
);
insert into retention_floor (subject, kept) values ('audit_entry', '30 days'), ('call', '1 day'), ('task', '1 day');
`;
