// A process of the product (API, worker) as a child of the test, so that it can be killed like a machine that
// dies.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../../db/database.ts';
import { until } from '../until.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 60_000;
const LINES_SHOWN = 20;

export interface TestProcess {
  pid: number;
  /** The name under which PostgreSQL lists its sessions. */
  sessionsName: string;
  /** The log line by which the process reported to be ready. */
  readyLine: string;
  /** Output of the process, line by line. */
  lines(): readonly string[];
  hasExited(): boolean;
  /** Kills the process at once, as a power cut does. */
  kill(): Promise<void>;
  /**
   * Stops the process as an orchestrator does, by force when it takes too long; resolves to its exit code.
   */
  stop(): Promise<number | null>;
}

/** Starts an entry file of the product with this environment and waits for the ready line. */
async function startProcess(
  file: string,
  env: Record<string, string>,
  readyLine: RegExp,
): Promise<TestProcess> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const sessionsName = `test-${randomUUID()}`;
  const child = spawn(process.execPath, [file], {
    cwd: ROOT,
    env: { PATH, NODE_COMPILE_CACHE, PGAPPNAME: sessionsName, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An interrupted test run leaves no process behind.
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const exited = once(child, 'exit').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
  void exited.finally(() => process.off('exit', killWithUs));
  const lines: string[] = [];
  const ready = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (readyLine.test(line)) ready.resolve(line);
    });
  }
  const timer = setTimeout(() => ready.reject(new Error('it took too long')), READY_LIMIT_MS);
  void exited.then((code) => ready.reject(new Error(`it ended at once, with code ${code}`)));
  try {
    const line = await ready.promise;
    return {
      pid: child.pid ?? 0,
      sessionsName,
      readyLine: line,
      lines: () => lines,
      hasExited: () => child.exitCode !== null || child.signalCode !== null,
      kill: async () => {
        child.kill('SIGKILL');
        await exited;
      },
      stop: async () => {
        child.kill('SIGTERM');
        const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
        return exited.finally(() => clearTimeout(force));
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    const last = lines.slice(-LINES_SHOWN).join('\n');
    throw new Error(`${file} did not start: ${String(error)}\n${last}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until PostgreSQL has ended the sessions of a process that was killed: a statement that was under way
 * goes on without its process, and may commit.
 */
export async function untilSessionsEnd(em: Em, { sessionsName }: TestProcess): Promise<void> {
  await until('the sessions of the killed process have ended', async () => {
    const sessions = await em.execute<{ pid: number }[]>(sql`
      select pid from pg_stat_activity where application_name = ${sessionsName}`);
    return sessions.length === 0;
  });
}

export function startWorkerProcess(env: Record<string, string>): Promise<TestProcess> {
  return startProcess('worker/main.ts', env, /the worker is running/);
}

export interface ApiProcess {
  process: TestProcess;
  baseUrl: string;
  /** URL of the internal listener. */
  internalUrl: string;
}

/** Starts an API process; resolves to it with the URLs it listens on. */
export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const api = await startProcess('api/server.ts', env, /the API is listening/);
  const { port, internalPort } = JSON.parse(api.readyLine) as { port: number; internalPort: number };
  return {
    process: api,
    baseUrl: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
  };
}
