// A circuit breaker: after a few failures in a row nobody waits for something that does not answer.

export interface Breaker {
  /** What the call answers; null when it failed, or was not made because the breaker is open. */
  run: <Result>(call: () => Promise<Result>) => Promise<Result | null>;
  isOpen: () => boolean;
  /** Tries at once instead of when the pause is over: for whoever heard that it may be back. */
  retry: () => void;
  stop: () => void;
}

export interface BreakerOptions {
  /** So many failures in a row open it. */
  failuresMax: number;
  /** Pause before each try to close it. */
  openMs: number;
  /** The try: no caller's request, so that none has to wait for it. */
  probe: () => Promise<unknown>;
  onOpen: (reason: unknown) => void;
  onClose: () => void;
}

export function createBreaker({ failuresMax, openMs, probe, onOpen, onClose }: BreakerOptions): Breaker {
  let failures = 0;
  let isOpen = false;
  let isProbing = false;
  let timer: NodeJS.Timeout | undefined;

  const scheduleProbe = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void tryProbe(), openMs).unref();
  };
  const tryProbe = async (): Promise<void> => {
    if (!isOpen || isProbing) return;
    isProbing = true;
    try {
      await probe();
      isOpen = false;
      failures = 0;
      onClose();
    } catch {
      scheduleProbe();
    } finally {
      isProbing = false;
    }
  };

  return {
    run: async (call) => {
      if (isOpen) return null;
      try {
        const result = await call();
        failures = 0;
        return result;
      } catch (error) {
        failures += 1;
        if (failures < failuresMax || isOpen) return null;
        isOpen = true;
        scheduleProbe();
        onOpen(error);
        return null;
      }
    },
    isOpen: () => isOpen,
    retry: () => void tryProbe(),
    stop: () => {
      clearTimeout(timer);
      isOpen = false;
    },
  };
}
