// Waits until processes are ready again, with the database, Redis and Temporal within their reach.
import { setTimeout as sleep } from 'node:timers/promises';

const READY_MS_MAX = 120_000;
const ANSWER_MS_MAX = 2_000;
const LOOK_EVERY_MS = 250;

/** `internalUrls` are their internal listeners. Throws when one is not ready within two minutes. */
export async function untilReady(internalUrls: readonly string[]): Promise<void> {
  const until = Date.now() + READY_MS_MAX;
  for (const internalUrl of internalUrls) {
    let said = await readReadiness(internalUrl);
    while (said !== 'ok') {
      if (Date.now() > until) throw new Error(`${internalUrl} is ${said} after ${READY_MS_MAX / 1000} s`);
      await sleep(LOOK_EVERY_MS);
      said = await readReadiness(internalUrl);
    }
  }
}

/** `ok`, or what a process says instead. */
async function readReadiness(internalUrl: string): Promise<string> {
  try {
    const response = await fetch(`${internalUrl}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const { status } = (await response.json()) as { status: string };
    return status;
  } catch {
    return 'silent';
  }
}
