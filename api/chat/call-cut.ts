// The signal that cuts a call's request to its upstream.

export interface CallCut {
  signal: AbortSignal;
  /** Ends the watch; the signal is not aborted any more. */
  release(): void;
}

/**
 * Creates a signal that is aborted together with any of `sources`, or after `secondsMax`. It has a life of
 * its own, so that `release` frees what the source of many calls would otherwise hold.
 */
export function cutWith(sources: readonly AbortSignal[], secondsMax: number | null = null): CallCut {
  const controller = new AbortController();
  const cut = (): void => controller.abort();
  for (const source of sources) source.addEventListener('abort', cut);
  const timer = secondsMax === null ? undefined : setTimeout(cut, secondsMax * 1000);
  if (sources.some(({ aborted }) => aborted)) cut();
  return {
    signal: controller.signal,
    release: () => {
      for (const source of sources) source.removeEventListener('abort', cut);
      clearTimeout(timer);
    },
  };
}
