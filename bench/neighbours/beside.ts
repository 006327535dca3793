// Starts the processes that work beside the victim: the attacker, or one that only uses the processor.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Told } from './attacks.ts';

const BEGINNING_MS = 1_500;
const TOLD = z.object({
  planned: z.number(),
  sent: z.number(),
  answers: z.record(z.string(), z.number()),
}) satisfies z.ZodType<Told>;

export interface Attacker {
  pid: number;
  /** Ends the attacks. */
  stop(): Promise<Told>;
}

/** Plays these attacks from a process of its own, as the user of these keys. */
export async function beginAttack(
  baseUrl: string,
  keys: readonly string[],
  names: readonly string[],
): Promise<Attacker> {
  const script = join(import.meta.dirname, 'attacker.ts');
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  let told = '';
  child.stdout.on('data', (text: Buffer) => (told += text.toString()));
  child.stdin.write(`${JSON.stringify({ names, baseUrl, keys })}\n`);
  await once(child.stdout, 'data'); // starting the process takes seconds on a busy machine
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      return TOLD.parse(JSON.parse(told.replace('begins', '')));
    },
  };
}

/** Measures beside a process that only uses the processor, as far as an attacker may, and sends nothing. */
export async function besideBurner<Result>(work: () => Promise<Result>): Promise<Result> {
  const script = join(import.meta.dirname, 'burner.ts');
  const burner = spawn(process.execPath, [script], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  await sleep(BEGINNING_MS);
  try {
    return await work();
  } finally {
    burner.stdin.end();
  }
}
