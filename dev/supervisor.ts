/** Keeps one part of the system running: restarts it when it dies, gives up when it cannot live. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './processes.ts';

/** Something that runs and can be watched: a process of ours, or a server. */
export interface Part {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  lastLines(): string[];
  stop(graceMs?: number): Promise<void>;
}

export interface SupervisorOptions<Running extends Part> {
  name: string;
  /** Starts the part, at the same address as before. */
  start: () => Promise<Running>;
  warn: (message: string) => void;
  /** Called after each restart, with the new pid in place. */
  onRestart?: () => void;
  /** Called once, when the part has died too often; it is not started again. */
  onGiveUp: (error: Error) => void;
  timing?: Partial<SupervisorTiming>;
}

export interface SupervisorTiming {
  firstDelayMs: number;
  delayMsMax: number;
  /** A part that lived this long was up; dying earlier counts as a failed start. */
  soundAfterMs: number;
}

export interface Supervised<Running extends Part> {
  /** What runs now, or ran last. */
  current(): Running;
  /** The pid of what runs now, or null between a death and the restart. */
  pid(): number | null;
  /** From now on a death is left alone: the system is being stopped. */
  release(): void;
  stop(graceMs?: number): Promise<void>;
}

const failedStartsMax = 5;
const usualTiming: SupervisorTiming = { firstDelayMs: 200, delayMsMax: 5_000, soundAfterMs: 10_000 };

/** Starts the part and watches it. A first start that fails is the caller's to handle. */
export async function supervise<Running extends Part>(
  options: SupervisorOptions<Running>,
): Promise<Supervised<Running>> {
  const timing = { ...usualTiming, ...options.timing };
  const released = new AbortController();
  let running = await options.start();
  let isUp = true;
  let quickDeaths = 0;
  let failedStarts = 0;

  const watch = async (): Promise<void> => {
    let startedAt = Date.now();
    let exit = await running.exited;
    while (!released.signal.aborted) {
      isUp = false;
      const isSound = Date.now() - startedAt >= timing.soundAfterMs;
      // Who is killed from outside did not fail by itself, however often it happens.
      failedStarts = isSound || exit.signal === 'SIGKILL' ? 0 : failedStarts + 1;
      quickDeaths = isSound ? 0 : quickDeaths + 1;
      if (failedStarts >= failedStartsMax) return options.onGiveUp(giveUpError(options.name, running));
      options.warn(`${options.name} ended (${describeExit(exit)}); restarting it`);
      await sleep(delayAfter(quickDeaths, timing), undefined, { signal: released.signal });
      startedAt = Date.now();
      try {
        running = await options.start();
        if (released.signal.aborted) return;
        isUp = true;
        options.onRestart?.();
        exit = await running.exited;
      } catch (error) {
        options.warn(error instanceof Error ? error.message : String(error));
        exit = { code: 1, signal: null };
      }
    }
  };
  const watching = watch().catch((error: unknown) => {
    // A release cuts the pause before a restart short.
    if (!released.signal.aborted) options.onGiveUp(error instanceof Error ? error : new Error(String(error)));
  });

  return {
    current: () => running,
    pid: () => (isUp ? running.pid : null),
    release: () => released.abort(),
    stop: async (graceMs) => {
      released.abort();
      await running.stop(graceMs);
      await watching;
      // Released in the middle of a restart: what that brought up has to go, too.
      await running.stop(graceMs);
    },
  };
}

function delayAfter(quickDeaths: number, timing: SupervisorTiming): number {
  return Math.min(timing.firstDelayMs * 2 ** Math.max(0, quickDeaths - 1), timing.delayMsMax);
}

function describeExit(exit: Exit): string {
  return exit.signal === null ? `exit code ${exit.code}` : exit.signal;
}

function giveUpError(name: string, part: Part): Error {
  return new Error(
    `${name} ended ${failedStartsMax} times right after its start, so it is not started again. Its last lines:\n${part.lastLines().join('\n')}`,
  );
}
