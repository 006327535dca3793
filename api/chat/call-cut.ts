// The signal that cuts a call's request to its upstream.

export interface CallCut {
  signal: AbortSignal;
  /** Ends the watch; the signal is not aborted any more. */
  release(): void;
}

/**
 * Creates a signal that is aborted together with `source`, or after `secondsMax`. It has a life of its own,
 * so that `release` frees what the source of many calls would otherwise hold.
 */
export function cutWith(source: AbortSignal, secondsMax: number | null = null): CallCut {
  const controller = new AbortController();
  const cut = (): void => controller.abort();
  source.addEventListener('abort', cut);
  const timer = secondsMax === null ? undefined : setTimeout(cut, secondsMax * 1000);
  if (source.aborted) cut();
  return {
    signal: controller.signal,
    release: () => {
      source.removeEventListener('abort', cut);
      clearTimeout(timer);
    },
  };
}
