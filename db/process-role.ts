// The rights of the database user that API and worker run as: it owns no table, and writes what is money
// through functions only.
import { sql } from '@mikro-orm/postgresql';
import { CALLED_FUNCTIONS, INSTALLATION_LOCK } from './functions.ts';
import type { Database } from './database.ts';

/**
 * What a process may do with a table or view beside reading it, where that is less than inserting, updating
 * and deleting rows. Everything else in these tables is written by functions, or by migrations.
 */
const NARROW_RIGHTS: Readonly<Record<string, readonly string[]>> = {
  account: ['insert (user_id)', 'update (disabled_at, frozen_at, updated_at)'],
  key_spending: ['insert (key_id, quota, daily_budget)', 'update (quota, daily_budget)'],
  task_attempt: [],
  ledger_transfer: [],
  credited_transfer: [],
  redeem_code: ['insert', 'update (used_count, disabled_at)'],
  redemption: ['insert'],
  chat_call: ['update (lease_until, known_charge, prompt_tokens, completion_tokens)'],
  audit_entry: ['insert'],
  retention_floor: [],
  removed_call: [],
  usage_day: [],
  mikro_orm_migrations: [],
  sql_function: [],
};
const USUAL_RIGHTS = ['insert', 'update', 'delete'];

/**
 * Gives `role` the rights of a process, and takes others away. Called by the owner after every migration,
 * since a new table is its owner's alone. Safe to repeat.
 */
export async function grantProcessRights(database: Database, role: string): Promise<void> {
  await database.em.fork().transactional(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${INSTALLATION_LOCK})`);
    const [place] = await tx.execute<{ schema: string; role: string }[]>(sql`
      select quote_ident(current_schema()) as schema, quote_ident(${role}) as role`);
    if (!place) throw new Error('the database has no current schema');
    const tables = await tx.execute<{ name: string; table: string }[]>(sql`
      select relname as name, oid::regclass::text as table from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
        and pg_get_userbyid(relowner) = current_user`);
    const functions = await tx.execute<{ signature: string }[]>(sql`
      select oid::regprocedure::text as signature from pg_proc
      where pronamespace = current_schema()::regnamespace and prosecdef
        and proname = any(string_to_array(${CALLED_FUNCTIONS.join()}, ','))`);
    const statements = [
      // A database that comes from PostgreSQL 14 lets everyone create tables there: one in the place of ours.
      `revoke create on schema ${place.schema} from public, ${place.role}`,
      `grant usage on schema ${place.schema} to ${place.role}`,
      ...tables.flatMap(({ name, table }) => [
        `revoke all on table ${table} from ${place.role}`,
        `grant ${['select', ...(NARROW_RIGHTS[name] ?? USUAL_RIGHTS)].join(', ')} on table ${table} to ${place.role}`,
      ]),
      ...functions.map(({ signature }) => `grant execute on function ${signature} to ${place.role}`),
    ];
    await tx.execute(statements.join(';\n'));
  });
}
