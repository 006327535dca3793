// Runs a command line program: reads its arguments, opens the database, and sets the exit code.
import { parseArgs } from 'node:util';
import type { Config } from '../config/config.ts';
import { runWithConfig } from '../config/run-with-config.ts';
import { forkEm, type Database, type Em } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import type { SecretKey } from '../db/secrets.ts';

export interface Command {
  /** Names of the command's arguments, for the usage; those in brackets are optional. */
  args: readonly string[];
  /** Description of the command, for the usage. */
  about: string;
  /** Checks the arguments that can be checked without the database. Throws a Refusal. */
  check?: (args: readonly string[]) => void;
  run: (installation: Installation, ...args: string[]) => Promise<Outcome>;
  /** Whether it runs as the owner of the tables, and not as the processes do. */
  asOwner?: true;
  /** How long one of its statements may take; as in any process when left out. */
  statementLimitMs?: number;
}

export interface Installation {
  database: Database;
  em: Em;
  keyRing: readonly SecretKey[];
  config: Config;
  /** The database user of the processes; null where that is the owner of the tables. */
  processRole: string | null;
}

export interface Outcome {
  text: string;
  /** Whether the command succeeded but found a problem: exit code 1. */
  isAlarming?: boolean;
}

/** A failure in one sentence for the operator. */
export class Refusal extends Error {}

const CONNECTIONS_MAX = 2;
/** PostgreSQL's error code of a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

/** Runs the command that the arguments name. Prints the usage and sets exit code 1 when they name none. */
export async function runProgram(
  program: string,
  commands: Readonly<Record<string, Command>>,
  args: readonly string[],
): Promise<void> {
  const usage = describeUsage(program, commands);
  const parsed = readArguments(args, usage);
  if (parsed === null) return;
  const [name = '', ...values] = parsed;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const required = command?.args.filter((arg) => !arg.startsWith('[')).length ?? 0;
  if (!command || values.length < required || values.length > command.args.length) return fail(usage);
  try {
    command.check?.(values);
    await runWithConfig(async (config) => {
      const { text, isAlarming = false } = await onDatabase(config, command, (installation) =>
        command.run(installation, ...values),
      );
      process.stdout.write(text);
      if (isAlarming) process.exitCode = 1;
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    fail(`${error.message}\n`);
  }
}

/**
 * Reads the command's name and its values; null when the usage was asked for or an option is unknown.
 * Arguments after the name are values: an amount of credits may begin with a minus, and is refused as such.
 */
function readArguments(args: readonly string[], usage: string): string[] | null {
  try {
    const options = { help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ args: args.slice(0, 1), options, allowPositionals: true });
    if (!values.help) return [...positionals, ...args.slice(1)];
    process.stdout.write(usage);
  } catch (error) {
    fail(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
  return null;
}

function describeUsage(program: string, commands: Readonly<Record<string, Command>>): string {
  const entries = Object.entries(commands);
  const calls = entries.map(([name, { args }], index) =>
    [index === 0 ? 'usage:' : '      ', `npm run ${program} --`, name, ...args].join(' '),
  );
  const width = Math.max(...entries.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  const about = entries.map(
    ([name, command]) => `${name.padEnd(width)}  ${command.about.replaceAll('\n', `\n${indent}`)}`,
  );
  return `${calls.join('\n')}\n\n${about.join('\n')}\n`;
}

async function onDatabase(
  config: Config,
  { asOwner, statementLimitMs }: Command,
  run: (installation: Installation) => Promise<Outcome>,
): Promise<Outcome> {
  const { databaseUrl, databaseOwnerUrl, keyRing } = config;
  const url = asOwner ? databaseOwnerUrl : databaseUrl;
  const database = openDatabase({
    url,
    connectionsMax: CONNECTIONS_MAX,
    ...(statementLimitMs !== undefined && { statementLimitMs }),
  });
  const role = userOf(databaseUrl);
  const processRole = role === userOf(databaseOwnerUrl) ? null : role;
  try {
    return await run({ database, em: forkEm(database), keyRing, config, processRole });
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

function userOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

/** Explains the two usual mistakes of operators, no server and no schema; returns other errors unchanged. */
function explain(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === UNDEFINED_TABLE)
    return new Refusal('The database has no tables yet: run npm run db -- migrate first.');
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
    return new Refusal('The database server in DATABASE_URL does not answer.');
  return error;
}

function fail(text: string): void {
  process.stderr.write(text);
  process.exitCode = 1;
}
