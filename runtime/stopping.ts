// How a process ends: once asked, in order and within a limit; twice asked, or broken beyond that limit, at
// once.
import type { Log } from '../log.ts';

export interface StopOptions {
  log: Log;
  /**
   * Ends everything, in order. `drains`: whether there is time to wait until nobody sends anything any more.
   */
  stop: (drains: boolean) => Promise<void>;
  /** Then the process ends whatever is still running, with exit code 1. */
  limitMs: number;
}

/** SIGTERM and SIGINT stop the process with exit code 0, an error that nobody caught with 1. */
export function stopWhenTold({ log, stop, limitMs }: StopOptions): void {
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
  // The state of the process is unknown from here on, but what others wait for is still worth ending well.
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'an error that nobody caught');
    if (!isStopping) begin(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
