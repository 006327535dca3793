// Commands on the database: `migrate` brings the schema up to date, `check` runs the invariants of money.
import { ConfigError, loadConfig } from '../config/config.ts';
import { findViolations } from '../db/ledger/invariants.ts';
import { migrate, openDatabase } from '../db/open-database.ts';
import { forkEm, type Database } from '../db/database.ts';

const COMMANDS: Record<string, (database: Database) => Promise<void>> = {
  migrate: async (database) => {
    const done = await migrate(database);
    process.stdout.write(done.length === 0 ? 'the schema is up to date\n' : `applied ${done.join(', ')}\n`);
  },
  check: async (database) => {
    const violations = await findViolations(forkEm(database));
    for (const { rule, subject } of violations) process.stdout.write(`BROKEN: ${rule}: ${subject}\n`);
    process.stdout.write(`${violations.length} violations\n`);
    if (violations.length > 0) process.exitCode = 1;
  },
};

await main(process.argv[2] ?? '');

async function main(name: string): Promise<void> {
  const command = COMMANDS[name];
  if (!command) {
    process.stderr.write(`usage: npm run db -- ${Object.keys(COMMANDS).join(' | ')}\n`);
    process.exitCode = 1;
    return;
  }
  try {
    const config = loadConfig();
    const database = openDatabase({ url: config.databaseUrl, connectionsMax: 2 });
    await command(database).finally(() => database.close());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
