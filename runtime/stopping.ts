// How a process ends: on the first signal in order and within a limit, on the second at once.
import type { Log } from '../log.ts';

export interface StopOptions {
  log: Log;
  /** Ends everything, in order. `drains`: whether there is time to wait for requests under way. */
  stop: (drains: boolean) => Promise<void>;
  /** How long `stop` may take; then the process exits with code 1. */
  limitMs: number;
}

/** Stops on SIGTERM and SIGINT with exit code 0, on an uncaught error with 1. */
export function stopOnSignals({ log, stop, limitMs }: StopOptions): void {
  let isStopping = false;

  const begin = (exitCode: number): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    setTimeout(() => {
      log.error({ limitMs }, 'stopping took too long');
      process.exit(1);
    }, limitMs).unref();
    stop(exitCode === 0).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => begin(0));
  // The state of the process is unknown from here on, but requests under way are still worth ending well.
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'an error that nobody caught');
    if (!isStopping) begin(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
