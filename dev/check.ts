// `npm run check`: runs types, lint and format in parallel, prints what each found, fails if one failed.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { openTerminal } from './terminal.ts';

const PROJECT_DIR = join(import.meta.dirname, '..');
const PACKAGES = join(PROJECT_DIR, 'node_modules');
/** File that remembers what was checked, so that a run costs only the files that a change concerns. */
const BUILD_INFO = join(PACKAGES, '.cache/check.tsbuildinfo');
const OUTPUT_BYTES_MAX = 50e6;

const CHECKS: readonly { name: string; program: string; args: readonly string[] }[] = [
  {
    name: 'types',
    program: 'typescript/bin/tsc',
    args: ['--noEmit', '--incremental', '--tsBuildInfoFile', BUILD_INFO],
  },
  {
    name: 'types of the console',
    program: 'typescript/bin/tsc',
    args: ['--noEmit', '--project', 'console/tsconfig.json'],
  },
  { name: 'lint', program: 'oxlint/bin/oxlint', args: ['--type-aware'] },
  { name: 'format', program: 'oxfmt/bin/oxfmt', args: ['--check', '.'] },
];

const terminal = openTerminal();

const outcomes = await Promise.all(CHECKS.map(check));
if (outcomes.includes('failed')) process.exitCode = 1;

async function check({ name, program, args }: (typeof CHECKS)[number]): Promise<'passed' | 'failed'> {
  try {
    await terminal.step(name, () => run(join(PACKAGES, program), args));
    return 'passed';
  } catch (error) {
    terminal.fail(`${name}\n${error instanceof Error ? error.message : String(error)}`);
    return 'failed';
  }
}

/** Runs a program. Throws with its whole output if it fails. */
function run(program: string, args: readonly string[]): Promise<void> {
  const options = { cwd: PROJECT_DIR, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], options, (error, output, errors) => {
      if (error) reject(new Error(`${output}${errors}`.trim() || error.message));
      else resolve();
    });
  });
}
