// Starts the processes that work beside the victim: the attacker, and burners.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** As many as the attacker, the database, Temporal, the worker and the sandbox are beside the API. */
export const BURNERS = 5;
const BEGINNING_MS = 1_500;

/** Plays these attacks from a process of its own, as the user of these keys. */
export async function beginAttack(
  baseUrl: string,
  keys: readonly string[],
  names: readonly string[],
): Promise<{ stop: () => Promise<string> }> {
  const script = join(import.meta.dirname, 'attacker.ts');
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  let told = '';
  child.stdout.on('data', (text: Buffer) => (told += text.toString()));
  child.stdin.write(`${JSON.stringify({ names, baseUrl, keys })}\n`);
  await once(child.stdout, 'data'); // starting the process takes seconds on a busy machine
  return {
    stop: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      return told.replace('begins', '').trim();
    },
  };
}

/** Measures beside processes that only use the processor, and send nothing. */
export async function besideBurners<Result>(work: () => Promise<Result>): Promise<Result> {
  const script = join(import.meta.dirname, 'burner.ts');
  const burners = Array.from({ length: BURNERS }, () =>
    spawn(process.execPath, [script], { stdio: 'ignore' }),
  );
  await sleep(BEGINNING_MS);
  try {
    return await work();
  } finally {
    for (const burner of burners) burner.kill();
  }
}
