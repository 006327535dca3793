/** `npm test [files…]`: brings up throw-away servers, runs the tests against them, leaves nothing behind. */
import { join } from 'node:path';
import { launch, type RunningProcess } from './processes.ts';
import { removeAbandonedServers, startTestServers, type TestServers } from './servers/test-servers.ts';
import { describeError, openTerminal } from './terminal.ts';

const projectDir = join(import.meta.dirname, '..');
const defaultFiles = 'test/**/*.test.ts';
const testTimeoutMs = 20_000;
const terminal = openTerminal();

process.exitCode = await runTests(process.argv.slice(2));

async function runTests(args: readonly string[]): Promise<number> {
  const fetching = new AbortController();
  const interrupted = Promise.withResolvers<'interrupted'>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted.resolve('interrupted');
      fetching.abort();
    });
  }
  await removeAbandonedServers();
  const starting = startTestServers(terminal, fetching.signal);
  let mocha: RunningProcess | undefined;
  try {
    const servers = await Promise.race([starting, interrupted.promise]);
    if (servers === 'interrupted') return 130;
    mocha = await startMocha(args, servers);
    const exit = await Promise.race([mocha.exited, interrupted.promise]);
    return exit === 'interrupted' ? 130 : (exit.code ?? 1);
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

function startMocha(args: readonly string[], servers: TestServers): Promise<RunningProcess> {
  const files = args.filter((arg) => !arg.startsWith('-') && arg.includes('.test.'));
  const inParallel = files.length === 1 ? [] : ['--parallel', '--jobs', '2'];
  return launch({
    command: process.execPath,
    args: [
      join(projectDir, 'node_modules/mocha/bin/mocha.js'),
      ...['--timeout', String(testTimeoutMs), '--exit', ...inParallel, ...args],
      ...(files.length === 0 ? [defaultFiles] : []),
    ],
    cwd: projectDir,
    env: {
      ...process.env,
      TEST_POSTGRES_URL: servers.postgresUrl,
      TEST_TEMPORAL_ADDRESS: servers.temporalAddress,
      TEST_REDIS_URL: servers.redisUrl,
    },
  });
}
