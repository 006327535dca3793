// Limits how long a call may take, and leaves nothing behind when it has ended.

export interface TimeLimit {
  /** Fires with a TimeoutError when the time is up, or with the caller's signal and for its reason. */
  signal: AbortSignal;
  /** Is called when the call has ended: the signal stays as it is, and nothing keeps it in memory. */
  end(): void;
}

/**
 * Starts a limit of `limitMs`, which also ends with `callersSignal`. The timer of `AbortSignal.timeout` lives
 * on until the time is up, and signals made by `AbortSignal.any` as long as their sources: a video that was
 * asked for once a second had 75 of them in memory (heap snapshots of the worker).
 */
export function startTimeLimit(limitMs: number, callersSignal?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const pass = (): void => controller.abort(callersSignal?.reason);
  const giveUp = (): void => controller.abort(new DOMException('the time is up', 'TimeoutError'));
  if (callersSignal?.aborted) pass();
  callersSignal?.addEventListener('abort', pass, { once: true });
  const timer = setTimeout(giveUp, limitMs);
  const end = (): void => {
    clearTimeout(timer);
    callersSignal?.removeEventListener('abort', pass);
  };
  return { signal: controller.signal, end };
}

/** Runs `work` under a limit that ends with it. */
export async function withTimeLimit<Result>(
  limitMs: number,
  callersSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = startTimeLimit(limitMs, callersSignal);
  try {
    return await work(limit.signal);
  } finally {
    limit.end();
  }
}
