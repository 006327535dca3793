// Runs Temporal's development server, with the settings that make its steps quick.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { waitForPort } from './ports.ts';
import type { Priority } from '../priority.ts';
import { launch, stopLeftover, type RunningProcess } from '../processes.ts';
import { ensureNamespace } from './temporal-namespace.ts';
export { ensureTemporalBinary } from './temporal-binary.ts';

export interface TemporalOptions {
  binary: string;
  port: number;
  /** File for the histories; without it they are kept in memory. */
  dataFile?: string;
  /** Port of the web interface; without it there is none. */
  uiPort?: number;
  /** Namespaces that are created where they are missing, with the gateway's search attributes. */
  namespaces: readonly string[];
  logFile: string;
  /** File that holds the pid, for the next start. */
  pidFile: string;
  /** Lowers its priority. */
  priority?: Priority;
  log: (message: string) => void;
}

export interface RunningTemporal extends RunningProcess {
  address: string;
  uiUrl: string | null;
}

const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 60_000;
// The defaults are for a cluster of many shards; a single one waits up to 50 ms before every step.
const SERVER_SETTINGS = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.workflowIdReuseMinimalInterval="0s"',
  'system.enableActivityEagerExecution=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

export function isDevelopmentServer(commandLine: string): boolean {
  return commandLine.includes('server start-dev');
}

/** Starts the server and waits until its namespaces can be used. */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  if (options.dataFile !== undefined) mkdirSync(dirname(options.dataFile), { recursive: true, mode: 0o700 });
  if (await stopLeftover(options.pidFile, isDevelopmentServer))
    options.log('stopped a Temporal server left over from before');

  const server = await launch({
    command: options.binary,
    args: serverArguments(options),
    env: { ...process.env, NO_COLOR: '1' },
    logFile: options.logFile,
    pidFile: options.pidFile,
    ...(options.priority === undefined ? {} : { priority: options.priority }),
  });
  const address = `${HOST}:${options.port}`;
  try {
    await waitUntilReady(server, options, address);
  } catch (error) {
    await server.stop();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Temporal did not start (${reason}). Its last lines:\n${server.lastLines().join('\n')}`, {
      cause: error,
    });
  }
  const uiUrl = options.uiPort === undefined ? null : `http://${HOST}:${options.uiPort}`;
  return { ...server, address, uiUrl };
}

async function waitUntilReady(
  server: RunningProcess,
  options: TemporalOptions,
  address: string,
): Promise<void> {
  if (!(await waitForPort(options.port, READY_TIMEOUT_MS, () => !server.hasExited())))
    throw new Error(server.hasExited() ? 'it ended at once' : 'it does not answer');
  for (const namespace of options.namespaces) await ensureNamespace({ address, namespace });
}

function serverArguments(options: TemporalOptions): string[] {
  const webInterface =
    options.uiPort === undefined ? ['--headless'] : ['--ui-ip', HOST, '--ui-port', String(options.uiPort)];
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(options.port), '--log-level', 'warn'],
    ...webInterface,
    ...storageArguments(options.dataFile),
    ...SERVER_SETTINGS.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

function storageArguments(dataFile: string | undefined): string[] {
  if (dataFile === undefined) return [];
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];
  return ['--db-filename', dataFile, ...pragmas];
}
