// Runs a Redis server that keeps nothing, for the tests of rate limits.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, stopLeftover, type RunningProcess } from '../processes.ts';
import { INSTALLER, runInstaller } from './packages.ts';

export interface RedisOptions {
  program: string;
  port: number;
  logFile: string;
  /** File that holds the pid, for the next start. */
  pidFile: string;
  log: (message: string) => void;
}

export interface RunningRedis extends RunningProcess {
  url: string;
}

const HOST = '127.0.0.1';
const PROGRAMS = ['redis-server', 'valkey-server'];
const READY_TIMEOUT_MS = 20_000;
const HELLO_TIMEOUT_MS = 1_000;

/**
 * Finds a server program on this machine and returns its name. When it is missing and that is allowed, it
 * is installed, as root on Debian.
 */
export async function ensureRedisProgram(options: {
  log: (message: string) => void;
  /** Whether a missing program may be installed. Default: no. */
  mayInstall?: boolean;
  /** Signal that ends an installation under way. */
  signal?: AbortSignal;
}): Promise<string> {
  const found = PROGRAMS.find(isUsable);
  if (found !== undefined) return found;
  if (options.mayInstall && process.getuid?.() === 0 && existsSync(INSTALLER)) {
    options.log('installing the package redis-server (about 2 MB, half a minute)');
    const install = ['install', '--yes', '--no-install-recommends', 'redis-server'];
    // The lists of a fresh machine are empty or old; most have them, and fetching takes longer than
    // installing.
    if (!(await runInstaller(install, options.signal))) {
      options.log('fetching the list of packages first (about 10 MB, up to a minute)');
      await runInstaller(['update'], options.signal);
      await runInstaller(install, options.signal);
    }
    const installed = PROGRAMS.find(isUsable);
    if (installed !== undefined) return installed;
  }
  throw new Error(
    'Redis is missing, and these tests need one: install redis-server (or valkey-server), run "npm test -- --install" as root on Debian, or set REDIS_URL to a server for tests.',
  );
}

export function isRedisServer(commandLine: string): boolean {
  return PROGRAMS.some((program) => commandLine.includes(program));
}

/** Starts the server and waits until it answers. */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  if (await stopLeftover(options.pidFile, isRedisServer))
    options.log('stopped a Redis left over from before');
  const server = await launch({
    command: options.program,
    args: ['--bind', HOST, '--port', String(options.port), '--save', '', '--appendonly', 'no'],
    logFile: options.logFile,
    pidFile: options.pidFile,
  });
  const until = Date.now() + READY_TIMEOUT_MS;
  while (!server.hasExited() && Date.now() < until) {
    if (await isAnswering(options.port)) return { ...server, url: `redis://${HOST}:${options.port}` };
    await sleep(20);
  }
  await server.stop();
  throw new Error(`Redis did not start. Its last lines:\n${server.lastLines().join('\n')}`);
}

function isUsable(program: string): boolean {
  return spawnSync(program, ['--version'], { timeout: 10_000 }).status === 0;
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST });
    const settle = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(HELLO_TIMEOUT_MS, () => settle(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (bytes: Buffer) => settle(bytes.toString().startsWith('+PONG')));
    socket.once('error', () => settle(false));
    socket.once('end', () => settle(false));
  });
}
