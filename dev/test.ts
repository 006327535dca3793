// `npm test [-- FILES… --install]`: runs the tests against throw-away servers, only those the files need.
import { globSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, type RunningProcess } from './processes.ts';
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
/** Where Node keeps compiled code: tests start the same programs again and again, in half of the time. */
const COMPILE_CACHE = process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'svc-gateway-compile-cache');
const INTERRUPTED_CODE = 130;

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
  const options = args.filter((arg) => !isFilePattern(arg) && arg !== INSTALL_FLAG);
  const starting = startServers(files, args.includes(INSTALL_FLAG), fetching.signal);
  let mocha: RunningProcess | null = null;
  try {
    if (files.length === 0) throw new Error(`There is no test file ${patterns.join(' ')}.`);
    const servers = await Promise.race([starting, interrupted.promise]);
    if (servers === 'interrupted') return INTERRUPTED_CODE;
    mocha = await startMocha(files, options, servers);
    const exit = await Promise.race([mocha.exited, interrupted.promise]);
    return exit === 'interrupted' ? INTERRUPTED_CODE : (exit.code ?? 1);
  } catch (error) {
    terminal.fail(describeError(error));
    return 1;
  } finally {
    await mocha?.stop(3_000);
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

function startMocha(
  files: readonly string[],
  options: readonly string[],
  servers: TestServers,
): Promise<RunningProcess> {
  const inParallel = files.length === 1 ? [] : ['--parallel', '--jobs', '2'];
  return launch({
    command: process.execPath,
    args: [
      join(PROJECT_DIR, 'node_modules/mocha/bin/mocha.js'),
      ...['--timeout', String(TEST_TIMEOUT_MS), '--exit', ...inParallel, ...options, ...files],
    ],
    cwd: PROJECT_DIR,
    env: { ...process.env, ...servers.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
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
