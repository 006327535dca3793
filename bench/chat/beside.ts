// A process of its own beside the product, for what it is compared with.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Beside {
  pid: number;
  stop(): void;
}

/** Starts a script of ours and waits until it says that it is ready. */
export async function startBeside(script: string, env: Record<string, string>): Promise<Beside> {
  return startProgram([script], env, /ready/);
}

export async function startProgram(
  args: readonly string[],
  env: Record<string, string>,
  readyLine: RegExp,
): Promise<Beside> {
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
