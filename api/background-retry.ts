// Writes what belongs to an answer, which waits for the first try only: further ones go on in the background.
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;
/** Longer than a database takes to restart; what repeats wait for otherwise is the end of a lease. */
const RETRIED_MS = 60_000;

/**
 * Resolves after the first try. When that failed, `onFailure` is told, and further tries follow that are not
 * waited for. `onEnd` is told when it is written or given up. Never rejects. `write` must be safe to repeat.
 */
export async function writeOrRetryInBackground(
  write: () => Promise<void>,
  onFailure: (error: unknown) => void,
  onEnd: () => void,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    onFailure(error);
    void retry(write).finally(onEnd);
    return;
  }
  onEnd();
}

async function retry(write: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + RETRIED_MS;
  for (let isWritten = false; !isWritten && Date.now() < giveUpAt;) {
    await sleep(PAUSE_MS, undefined, { ref: false });
    isWritten = await write().then(
      () => true,
      () => false,
    );
  }
}
