// A circuit breaker: after several failures in a row, calls are skipped until a probe succeeds.

export interface Breaker {
  /**
   * Runs `call` and returns its result; null when it failed, or was skipped because the breaker is open.
   * Never throws.
   */
  run: <Result>(call: () => Promise<Result>) => Promise<Result | null>;
  isOpen: () => boolean;
  /** Probes at once instead of after the pause, for when the connection has just come back. */
  retry: () => void;
  /** Ends probing and closes the breaker. */
  stop: () => void;
}

export interface BreakerOptions {
  /** Failures in a row that open the breaker. */
  failuresMax: number;
  /** Pause before each probe. */
  openMs: number;
  /** Tests whether calls work again. A call of its own, so that no request has to wait for the test. */
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
