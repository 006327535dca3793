// `npm run db -- COMMAND`: brings the schema up to date, and checks the contents of the database.
import { migrate } from '../db/open-database.ts';
import { CHECK } from './check-command.ts';
import { SECRETS } from './secrets-command.ts';
import { runProgram, type Command } from './program.ts';

/** An index of a table with some hundred million rows takes minutes. */
const MIGRATION_LIMIT_MS = 10 * 60 * 1000;

const COMMANDS: Readonly<Record<string, Command>> = {
  migrate: {
    args: [],
    about: 'brings the schema up to date',
    asOwner: true,
    statementLimitMs: MIGRATION_LIMIT_MS,
    run: async ({ database, processRole }) => {
      const done = await migrate(database, processRole);
      return { text: done.length === 0 ? 'the schema is up to date\n' : `applied ${done.join(', ')}\n` };
    },
  },
  check: CHECK,
  secrets: SECRETS,
};

await runProgram('db', COMMANDS, process.argv.slice(2));
