// The shape of a command line program: its commands, its usage, and how it ends. Each command gets the
// database.
import { parseArgs } from 'node:util';
import type { Config } from '../config/config.ts';
import { runWithConfig } from '../config/run-with-config.ts';
import { forkEm, type Database, type Em } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import type { SecretKey } from '../db/secrets.ts';

export interface Command {
  /** What follows the command's name, as the usage shows it; what stands in brackets may be left out. */
  args: readonly string[];
  /** What the command does, for the usage. */
  about: string;
  /** Throws a Refusal for what can be refused without looking at the database. */
  check?: (args: readonly string[]) => void;
  run: (installation: Installation, ...args: string[]) => Promise<Outcome>;
}

export interface Installation {
  database: Database;
  em: Em;
  keyRing: readonly SecretKey[];
}

export interface Outcome {
  text: string;
  /** The command did what it should, and what it found is not well: exit code 1. */
  isAlarming?: boolean;
}

/** What went wrong, in one sentence for the operator. */
export class Refusal extends Error {}

const CONNECTIONS_MAX = 2;
/** PostgreSQL's code for a table that is not there. */
const UNDEFINED_TABLE = '42P01';

/** Runs the command that the arguments name. Exit code 1 with the usage where they name none. */
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
      const { text, isAlarming = false } = await onDatabase(config, (installation) =>
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
 * The command's name and its values; null when the usage was asked for, or an option that the program does
 * not have. What follows the name is no option: a number of credits may begin with a minus, to be refused as
 * such.
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
  { databaseUrl, keyRing }: Config,
  run: (installation: Installation) => Promise<Outcome>,
): Promise<Outcome> {
  const database = openDatabase({ url: databaseUrl, connectionsMax: CONNECTIONS_MAX });
  try {
    return await run({ database, em: forkEm(database), keyRing });
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

/**
 * Puts the two mistakes of an operator into words, no server and no schema; returns every other error as it
 * is.
 */
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
