// Retries within one run of an activity, for writes that must not be lost.

const RETRY_LIMIT_MS = 10 * 60_000;
const RETRY_PAUSE_MS = 500;

/**
 * Repeats a write while the database or the storage is away; after ten minutes throws its last error.
 * `requireWanted` runs before each write, and ends all by throwing.
 */
export async function retryWrite<Answer>(
  write: () => Promise<Answer>,
  requireWanted: () => Promise<void> = async () => undefined,
): Promise<Answer> {
  const giveUpAt = performance.now() + RETRY_LIMIT_MS;
  for (;;) {
    await requireWanted();
    try {
      return await write();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
  }
}
