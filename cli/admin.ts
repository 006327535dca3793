// The operator's command line, for what must not need a login: the first administrator, lost passwords, frozen accounts.
//   create EMAIL                  an administrator with every permission; prints the password once
//   reset EMAIL                   a new password, printed once; the second factor and all sessions are gone
//   issue-key EMAIL NAME          an API key for the user; prints it once
//   grant EMAIL CREDITS [NOTE]    adds credits; the note stands in the user's ledger
//   unfreeze EMAIL                lets an account spend again that the check of the invariants has frozen
//   check                         runs the invariants of money; exit code 1 if one is violated
//   rotate                        after a new key was put in front of SVC_SECRET_KEYS and all processes have it:
//                                 encrypts again with it, and tells which older keys are still needed, and for what
import { ConfigError, loadConfig } from '../config/config.ts';
import { COMMANDS, Refusal, type Installation, type Outcome } from './admin-commands.ts';
import { openDatabase } from '../db/open-database.ts';
import { forkEm } from '../db/database.ts';

const USAGE = `${Object.entries(COMMANDS)
  .map(([name, { args }], index) =>
    [index === 0 ? 'usage:' : '      ', 'npm run admin --', name, ...args].join(' '),
  )
  .join('\n')}

create     makes an administrator with all permissions and prints a password, once;
           the first administrator can be made only here, never over HTTP
reset      gives a new password, printed once; removes the second factor, ends all sessions
issue-key  makes an API key and prints it, once
grant      adds credits to the user's account
unfreeze   lets a frozen account spend again
check      runs the invariants of money
rotate     encrypts again with the newest key of SVC_SECRET_KEYS, and tells which older keys
           are still needed; every process must have the new ring before
`;
/** PostgreSQL's name for a table that is not there. */
const UNDEFINED_TABLE = '42P01';

await main(process.argv.slice(2));

async function main([name = '', ...args]: string[]): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const required = command?.args.filter((arg) => !arg.startsWith('[')).length ?? 0;
  if (!command || args.length < required || args.length > command.args.length) {
    process.stderr.write(USAGE);
    process.exitCode = 1;
    return;
  }
  try {
    command.check?.(args);
    const { text, isAlarming = false } = await onDatabase((installation) =>
      command.run(installation, ...args),
    );
    process.stdout.write(text);
    if (isAlarming) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof Refusal)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

async function onDatabase(run: (installation: Installation) => Promise<Outcome>): Promise<Outcome> {
  const { databaseUrl, keyRing } = loadConfig();
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    return await run({ em: forkEm(database), keyRing });
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
