// Waits for conditions instead of fixed times.
import type { Actor, Answer } from './http/http.ts';

const LOOK_EVERY_MS = 25;
/** Ends a wait that is in vain; generous, because the machine may be busy with other tests. */
const LIMIT_MS = 60_000;

/** Polls `look` until it returns something truthy; fails with `what` when that takes too long. */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined | null | false>,
  limitMs = LIMIT_MS,
): Promise<Found> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > giveUpAt) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const FINAL = ['completed', 'failed', 'cancelled'];

/** The console's view of a task when it has ended. */
export async function untilFinal(session: Actor, taskId: string, limitMs?: number): Promise<Answer['body']> {
  return untilStatus(session, taskId, FINAL, limitMs);
}

export async function untilStatus(
  session: Actor,
  taskId: string,
  statuses: string | readonly string[],
  limitMs?: number,
): Promise<Answer['body']> {
  const wanted = typeof statuses === 'string' ? [statuses] : statuses;
  return until(
    `task ${taskId} is ${wanted.join(' or ')}`,
    async () => {
      const { body } = await session.get(`/api/tasks/${taskId}`);
      return wanted.includes(body.data.status) && body.data;
    },
    limitMs,
  );
}
