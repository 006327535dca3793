// Starts the processes that the gateway is compared with.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SERVER_FLAGS } from '../../dev/node-flags.ts';

export interface BenchProcess {
  pid: number;
  stop(): void;
}

/** Starts a script of the bench, with the API's flags, and waits until it prints that it is ready. */
export async function startBenchScript(script: string, env: Record<string, string>): Promise<BenchProcess> {
  return startProgram([...SERVER_FLAGS, script], env, /ready/);
}

export async function startProgram(
  args: readonly string[],
  env: Record<string, string>,
  readyLine: RegExp,
): Promise<BenchProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => void child.kill('SIGKILL'));
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => readyLine.test(line) && ready.resolve());
  void once(child, 'exit').then(() => ready.reject(new Error(`${args.join(' ')} ended at once`)));
  await ready.promise;
  return { pid: child.pid ?? 0, stop: () => void child.kill('SIGKILL') };
}
