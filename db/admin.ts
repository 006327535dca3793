// The operator's command line for users: `create EMAIL` makes an administrator with every permission.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ConfigError, loadConfig } from '../config.ts';
import { PERMISSIONS } from '../domain/permissions.ts';
import { forkEm, openDatabase } from './orm.ts';
import { createUser, normaliseEmail } from './users.ts';

const USAGE = `usage: npm run admin -- create EMAIL

Makes an administrator with all permissions and prints a password, once.
The first administrator can be made only here, never over HTTP.
`;
const EMAIL_CHARACTERS_MAX = 254;
const PASSWORD_BYTES = 18;
/** PostgreSQL's name for a table that is not there. */
const UNDEFINED_TABLE = '42P01';

/** What went wrong, in one sentence for the operator. */
class Refusal extends Error {}

await main(process.argv.slice(2));

async function main([command, email, ...more]: string[]): Promise<void> {
  if (command !== 'create' || email === undefined || more.length > 0) {
    process.stderr.write(USAGE);
    process.exitCode = 1;
    return;
  }
  try {
    const created = await createAdministrator(email);
    process.stdout.write(`administrator ${created.email}\npassword      ${created.password}\n`);
    process.stdout.write('The password is not shown again.\n');
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof Refusal)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

async function createAdministrator(text: string): Promise<{ email: string; password: string }> {
  const email = normaliseEmail(text);
  if (!z.email().max(EMAIL_CHARACTERS_MAX).safeParse(email).success)
    throw new Refusal(`"${text}" is not an e-mail address.`);
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const database = openDatabase({ url: loadConfig().databaseUrl, connectionsMax: 1 });
  try {
    const wish = { email, password, permissions: PERMISSIONS };
    const id = await createUser(forkEm(database), wish);
    if (id === null) throw new Refusal(`There is already a user with the address ${email}.`);
    return { email, password };
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

/** The two mistakes an operator makes: no server there, or no schema in it. Everything else stays as it is. */
function explain(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === UNDEFINED_TABLE)
    return new Refusal('The database has no tables yet: run npm run db -- migrate first.');
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
    return new Refusal('The database server in DATABASE_URL does not answer.');
  return error;
}
