// Starts other programs so that they can be watched, stopped for certain, and never outlive us.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from './log-file.ts';
import { lowerPriority, type Priority } from './priority.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  hasExited(): boolean;
  /** Returns the newest lines of its output, oldest first. */
  lastLines(): string[];
  /** Sends the stop signal, and kills the program after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** System user that a program runs as when this process is root. */
export interface SystemUser {
  uid: number;
  gid: number;
  name: string;
  /** Whether root's right to pass closed folders is kept, which only `setpriv` can give. */
  passesClosedFolders: boolean;
}

export interface LaunchOptions {
  command: string;
  args: readonly string[];
  /** File for the program's output; without it, the output goes to this terminal. */
  logFile?: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  stopSignal?: NodeJS.Signals;
  user?: SystemUser;
  /** Lowers its priority, and that of all that it starts. */
  priority?: Priority;
  /** File that holds the pid, so that the next start finds what an interrupted one left running. */
  pidFile?: string;
  /** File that is read as standard input; without it there is none. */
  inputFile?: string;
  /** Called with every line of standard output, which then is not logged. */
  onOutputLine?: (line: string) => void;
}

const DEFAULT_GRACE_MS = 15_000;
const OUTPUT_WAIT_MS = 500;
// `setpriv` (util-linux) can have the kernel signal a program when its parent dies, however the parent
// dies.
const CAN_BIND_LIFE =
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true']).status === 0;

/** Whether programs can run as another user and still pass folders closed to that user. */
export function canPassClosedFolders(uid: number, gid: number): boolean {
  return CAN_BIND_LIFE && spawnSync('setpriv', [...userArgs(uid, gid, true), 'true']).status === 0;
}

/**
 * Starts a program in a process group of its own, so that a Ctrl-C in the terminal reaches only this
 * process.
 */
export async function launch(options: LaunchOptions): Promise<RunningProcess> {
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const [command, args] = withBoundLife(options, stopSignal);
  const bySpawn = options.user !== undefined && command !== 'setpriv';
  const input = options.inputFile === undefined ? 'ignore' : openSync(options.inputFile, 'r');
  const output = options.logFile === undefined ? undefined : openLog(options.logFile);
  const outputTo = output === undefined ? 'inherit' : 'pipe';
  const child = spawn(command, args, {
    stdio: [input, outputTo, outputTo],
    detached: true,
    env: options.env ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(bySpawn ? { uid: options.user?.uid, gid: options.user?.gid } : {}),
  });
  if (typeof input === 'number') closeSync(input);
  if (child.stderr !== null) output?.follow(child.stderr);
  if (child.stdout !== null) output?.follow(child.stdout, options.onOutputLine);
  const ended = Promise.withResolvers<Exit>();
  let hasExited = false;
  const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (hasExited) return;
    hasExited = true;
    output?.close();
    if (options.pidFile !== undefined) rmSync(options.pidFile, { force: true });
    ended.resolve({ code, signal });
  };
  child.once('close', settle);
  // The program's last output comes before "close", but its children may hold the output open for longer
  // than the wait.
  child.once('exit', (code, signal) => setTimeout(settle, OUTPUT_WAIT_MS, code, signal));
  // Rejects with the reason when the program cannot be started at all.
  await once(child, 'spawn');
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${options.command} did not start.`);
  if (options.priority !== undefined) lowerPriority(pid, options.priority);
  if (options.pidFile !== undefined) writeFileSync(options.pidFile, `${pid}\n`);
  return {
    pid,
    exited: ended.promise,
    hasExited: () => hasExited,
    lastLines: () => output?.lastLines() ?? [],
    stop: (graceMs = DEFAULT_GRACE_MS) => stopGroup(pid, stopSignal, graceMs, ended.promise, () => hasExited),
  };
}

/** Stops what an interrupted earlier run left behind, if the pid still belongs to that program. */
export async function stopLeftover(
  pidFile: string,
  belongs: (commandLine: string) => boolean,
  stopSignal: NodeJS.Signals = 'SIGTERM',
  graceMs = 5_000,
): Promise<boolean> {
  const pid = readPid(pidFile);
  if (pid === undefined || pid === process.pid) return false;
  const isLeftover = (): boolean => isAlive(pid) && belongs(readCommandLine(pid));
  if (!isLeftover()) return false;
  sendSignal(pid, stopSignal);
  const until = Date.now() + graceMs;
  while (isLeftover() && Date.now() < until) await sleep(50);
  if (isLeftover()) sendSignal(-pid, 'SIGKILL');
  while (isLeftover() && Date.now() < until + graceMs) await sleep(50);
  return true;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process of another user may not be signalled, but it is alive.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Reads the pid on the first line of a file; undefined without one. */
export function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the command line of a running process; empty when it cannot be read. */
export function readCommandLine(pid: number): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

function withBoundLife(options: LaunchOptions, signal: NodeJS.Signals): [string, string[]] {
  if (!CAN_BIND_LIFE) return [options.command, [...options.args]];
  const user = options.user;
  const identity = user === undefined ? [] : userArgs(user.uid, user.gid, user.passesClosedFolders);
  const args = [...identity, '--pdeathsig', signal.slice('SIG'.length), options.command, ...options.args];
  return ['setpriv', args];
}

function userArgs(uid: number, gid: number, passesClosedFolders: boolean): string[] {
  const identity = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  if (!passesClosedFolders) return identity;
  return [
    ...identity,
    '--inh-caps',
    '+dac_override',
    '--ambient-caps',
    '+dac_override',
    '--securebits',
    '+no_setuid_fixup',
  ];
}

async function stopGroup(
  pid: number,
  signal: NodeJS.Signals,
  graceMs: number,
  exited: Promise<Exit>,
  hasExited: () => boolean,
): Promise<void> {
  if (hasExited()) return;
  // The program is signalled first: it knows in which order its own children have to end.
  sendSignal(pid, signal);
  const force = setTimeout(() => sendSignal(-pid, 'SIGKILL'), graceMs);
  await exited;
  clearTimeout(force);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in the meantime.
  }
}
