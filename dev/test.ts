// `npm test [-- FILES… --install --again]`: runs the tests against throw-away servers.
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFailures, type Failure } from './failure-reporter.ts';
import { launch } from './processes.ts';
import { findNeededServers } from './servers/needs.ts';
import { installChromium } from './servers/chromium.ts';
import { ensureRedisProgram } from './servers/redis.ts';
import { removeAbandonedServers, startTestServers, type TestServers } from './servers/test-servers.ts';
import { describeError, openTerminal } from './terminal.ts';

const PROJECT_DIR = join(import.meta.dirname, '..');
const ALL_FILES = 'test/**/*.test.ts';
/** Ends a test that hangs, and no test that is slow: the machine may be busy, or a third as fast as ours. */
const TEST_TIMEOUT_MS = 120_000;
/** Option that allows installing a missing Redis or Chromium as packages of the system: needs root, stays. */
const INSTALL_FLAG = '--install';
/**
 * Option that runs files with failed tests once more, one after the other: what passes then failed for want
 * of a quiet machine, which is told as a warning. For machines that decide about a change while others use
 * their processors.
 */
const AGAIN_FLAG = '--again';
/** More failures than these are no accident. */
const FILES_AGAIN_MAX = 3;
/** Where Node keeps compiled code: tests start the same programs again and again, in half of the time. */
const COMPILE_CACHE = process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'svc-gateway-compile-cache');
const INTERRUPTED_CODE = 130;
const IN_PARALLEL = ['--parallel', '--jobs', '2'];
/**
 * One job by mocha's options. Told to run in parallel with one job, mocha runs in serial and loads the files
 * by `require`, which refuses what awaits while it is loaded.
 */
const ONE_JOB = /(^| )(-j|--jobs)[ =]?1( |$)/;

const terminal = openTerminal();

process.exitCode = await runTests(process.argv.slice(2));

async function runTests(args: readonly string[]): Promise<number> {
  const interrupted = Promise.withResolvers<'interrupted'>();
  const fetching = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted.resolve('interrupted');
      fetching.abort();
    });
  }
  const patterns = args.filter(isFilePattern);
  const files = globSync(patterns.length === 0 ? ALL_FILES : patterns.map(toPattern)).sort();
  const options = args.filter((arg) => !isFilePattern(arg) && arg !== INSTALL_FLAG && arg !== AGAIN_FLAG);
  const starting = startServers(files, args.includes(INSTALL_FLAG), fetching.signal);
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-tests-'));
  try {
    if (files.length === 0) throw new Error(`There is no test file ${patterns.join(' ')}.`);
    const servers = await Promise.race([starting, interrupted.promise]);
    if (servers === 'interrupted') return INTERRUPTED_CODE;
    const run = (some: readonly string[], own: readonly string[], failures: string): Promise<number> =>
      runMocha(some, [...own, ...options], { failures, servers, interrupted: interrupted.promise });
    const failures = join(folder, 'failures');
    const isSerial = files.length === 1 || ONE_JOB.test(options.join(' '));
    const code = await run(files, isSerial ? [] : IN_PARALLEL, failures);
    const failed = readFailures(failures);
    const again = args.includes(AGAIN_FLAG) && code !== INTERRUPTED_CODE ? filesOf(failed) : [];
    if (again.length === 0) return code;
    terminal.note(
      `running ${again.length === 1 ? 'a file' : `${again.length} files`} with failed tests again`,
    );
    const second = await run(again, [], join(folder, 'failures-again'));
    if (second === 0) for (const { title } of failed) terminal.warn(`passed only when run again: ${title}`);
    return second;
  } catch (error) {
    terminal.fail(describeError(error));
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await starting.then(
      (servers) => servers.stop(),
      () => undefined,
    );
  }
}

async function startServers(
  files: readonly string[],
  mayInstall: boolean,
  signal: AbortSignal,
): Promise<TestServers> {
  const needed = findNeededServers(files);
  if (needed.size > 0) await removeAbandonedServers();
  // Some tests run a Redis of their own or a browser, and do not install them.
  if (mayInstall) {
    await ensureRedisProgram({ log: terminal.note, mayInstall, signal });
    await installChromium(terminal.note, signal);
  }
  return startTestServers({ needed, mayInstall, terminal, signal });
}

/** The files to run again; none where that could not make all failures good. */
function filesOf(failures: readonly Failure[]): string[] {
  const files = new Set(failures.map(({ file }) => file));
  if (files.has(undefined) || files.size > FILES_AGAIN_MAX) return [];
  return [...files].filter((file) => file !== undefined);
}

interface Surroundings {
  /** The file that what fails is written to. */
  failures: string;
  servers: TestServers;
  interrupted: Promise<'interrupted'>;
}

/** Runs mocha and answers its exit code, which is how many tests failed. */
async function runMocha(
  files: readonly string[],
  options: readonly string[],
  { failures, servers, interrupted }: Surroundings,
): Promise<number> {
  const reporter = join(import.meta.dirname, 'failure-reporter.ts');
  const mocha = await launch({
    command: process.execPath,
    args: [
      join(PROJECT_DIR, 'node_modules/mocha/bin/mocha.js'),
      ...['--timeout', String(TEST_TIMEOUT_MS), '--exit', '--reporter', reporter],
      ...['--reporter-option', `failures=${failures}`, ...options, ...files],
    ],
    cwd: PROJECT_DIR,
    env: { ...process.env, ...servers.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  try {
    const exit = await Promise.race([mocha.exited, interrupted]);
    return exit === 'interrupted' ? INTERRUPTED_CODE : (exit.code ?? 1);
  } finally {
    await mocha.stop(3_000);
  }
}

/** Whether an argument names test files, by name, pattern or folder: all others are options of mocha. */
function isFilePattern(arg: string): boolean {
  return !arg.startsWith('-') && (arg.includes('.test.') || isFolder(arg));
}

function isFolder(path: string): boolean {
  return path.includes('/') && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function toPattern(arg: string): string {
  return isFolder(arg) ? join(arg, '**/*.test.ts') : arg;
}
