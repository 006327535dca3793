// Starts the gateway's own programs: servers that run on, and scripts that end.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataFolder } from './data-folder.ts';
import { waitForPort } from '../servers/ports.ts';
import { SERVER_FLAGS } from '../node-flags.ts';
import type { Priority } from '../priority.ts';
import { launch, type RunningProcess } from '../processes.ts';

/** The servers, by the file that starts each. */
export const PROGRAMS = {
  api: 'api/server.ts',
  worker: 'worker/main.ts',
  sandbox: 'sandbox/main.ts',
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** Callers wait for the API and for vendors; what the worker does must not hold that up. */
const PRIORITIES: { [Name in ProgramName]?: Priority } = { worker: 'background' };
/** The sandbox is a vendor, which on a machine of its own would keep nothing else waiting. */
const FLAGS: { [Name in ProgramName]?: readonly string[] } = { api: SERVER_FLAGS, sandbox: SERVER_FLAGS };

export interface ServerScript {
  name: ProgramName;
  env: NodeJS.ProcessEnv;
  /** Port on which the start waits until the program listens. */
  port?: number;
}

const PROJECT_DIR = join(import.meta.dirname, '../..');
const LISTEN_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 60_000;

export async function startServer(folder: DataFolder, server: ServerScript): Promise<RunningProcess> {
  const priority = PRIORITIES[server.name];
  const running = await launch({
    ...nodeScript(PROGRAMS[server.name], [], server.env, FLAGS[server.name]),
    logFile: folder.logFile(server.name),
    pidFile: folder.pidFile(server.name),
    ...(priority === undefined ? {} : { priority }),
  });
  const { port } = server;
  if (port === undefined) return running;
  if (await waitForPort(port, LISTEN_TIMEOUT_MS, () => !running.hasExited())) return running;
  await running.stop();
  throw new Error(`${server.name} did not start. Its last lines:\n${running.lastLines().join('\n')}`);
}

export interface OneShotScript {
  folder: DataFolder;
  /** Name of the script's log. */
  name: string;
  script: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Signal that stops the script early. */
  ending: AbortSignal;
}

/** Runs a script to its end, and returns its standard output. Throws when it fails. */
export async function runScript(options: OneShotScript): Promise<string[]> {
  const { folder, name, script, args, env, ending } = options;
  const output: string[] = [];
  const running = await launch({
    ...nodeScript(script, args, env),
    logFile: folder.logFile(name),
    onOutputLine: (line) => output.push(line),
  });
  ending.addEventListener('abort', () => void running.stop(2_000), { once: true });
  const { code } = await running.exited;
  ending.throwIfAborted();
  if (code === 0) return output;
  const lines = [...output, ...running.lastLines()].slice(-15).join('\n');
  throw new Error(`${script} ${args.join(' ')} failed. Its last lines:\n${lines}`);
}

/** Waits until the address answers 200; false when `stillWorthwhile` says no or the time is over. */
export async function waitUntilOk(url: string, stillWorthwhile: () => boolean): Promise<boolean> {
  const until = Date.now() + READY_TIMEOUT_MS;
  while (stillWorthwhile() && Date.now() < until) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
      await response.body?.cancel();
      if (response.ok) return true;
    } catch {
      // The server is not listening yet.
    }
    await sleep(50);
  }
  return false;
}

function nodeScript(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): { command: string; args: string[]; env: NodeJS.ProcessEnv; cwd: string } {
  const command = process.execPath;
  return { command, args: [...flags, join(PROJECT_DIR, script), ...args], env, cwd: PROJECT_DIR };
}
