// Creates the callers of the chat bench: the demo key alone, or many accounts with a key each.
import { sql } from '@mikro-orm/postgresql';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { makeId } from '../../db/ids.ts';
import { COMMAND_LINE } from '../../db/audit-log.ts';
import { grantCredits } from '../../db/identity/user-administration.ts';
import { openDatabase } from '../../db/open-database.ts';
import { findUserByEmail } from '../../db/identity/users.ts';
import { parseCredits } from '../../domain/credits.ts';
import type { BenchSystem } from '../system.ts';
import { forkEm } from '../../db/database.ts';

type Callers = Record<string, string>[];

const CREDITS = parseCredits('1000000');

/** Creates the headers of one account and of many accounts, all with enough credits. */
export async function createCallers(system: BenchSystem, accounts: number): Promise<[Callers, Callers]> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 4 });
  const em = forkEm(database);
  const demo = await findUserByEmail(em, system.demo.user.email);
  if (!demo) throw new Error('there is no demo user');
  await grantPlenty(demo.id);
  const many: Callers = [];
  for (let account = 0; account < accounts; account += 1) many.push(await createCaller());
  await database.close();
  return [[bearer(system.demo.apiKey)], many];

  /** Creates an account without a password: hashing a thousand of them would take longer than the bench. */
  async function createCaller(): Promise<Record<string, string>> {
    const id = makeId('usr');
    await em.execute(sql`
      insert into app_user (id, email, password_hash, permissions) values (${id}, ${`${id.toLowerCase()}@example.com`}, 'none', '{}')`);
    await em.execute(sql`insert into account (user_id) values (${id})`);
    await grantPlenty(id);
    const { key } = await createApiKey(em, system.secrets, { userId: id, name: 'Bench' });
    return bearer(key);
  }

  async function grantPlenty(userId: string): Promise<void> {
    await grantCredits(em, COMMAND_LINE, { userId, credits: CREDITS, note: 'Bench credits' });
  }
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
