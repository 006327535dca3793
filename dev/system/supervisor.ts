// Keeps one part of the system running: restarts it when it dies, gives up when it cannot live.
import type { Exit } from '../processes.ts';

/** A process or server that can be watched and stopped. */
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
  /**
   * Whether a part that dies right after its start waits for `restart()`, because its sources are being
   * changed. Default: no.
   */
  waitsForRestart?: boolean;
  timing?: Partial<SupervisorTiming>;
}

export interface SupervisorTiming {
  firstDelayMs: number;
  delayMsMax: number;
  /** Time after which a part counts as up; dying earlier counts as a failed start. */
  soundAfterMs: number;
}

export interface Supervised<Running extends Part> {
  /** Returns what runs now, or ran last. */
  current(): Running;
  /** Returns the pid of what runs now; null between a death and the restart. */
  pid(): number | null;
  /**
   * Stops what runs and starts it anew. Rejects when it cannot be started, and then waits for the next
   * call.
   */
  restart(graceMs?: number): Promise<void>;
  /** Ignores deaths from now on, because the system is being stopped. */
  release(): void;
  stop(graceMs?: number): Promise<void>;
}

const FAILED_STARTS_MAX = 5;
const USUAL_TIMING: SupervisorTiming = { firstDelayMs: 200, delayMsMax: 5_000, soundAfterMs: 10_000 };

/** Starts the part and watches it. A first start that fails is the caller's to handle. */
export async function supervise<Running extends Part>(
  options: SupervisorOptions<Running>,
): Promise<Supervised<Running>> {
  const supervision = new Supervision(options, await options.start());
  const watching = supervision.watch();
  return {
    current: () => supervision.running,
    pid: () => (supervision.isUp ? supervision.running.pid : null),
    restart: (graceMs) => supervision.restart(graceMs),
    release: () => supervision.release(),
    stop: async (graceMs) => {
      supervision.release();
      await supervision.running.stop(graceMs);
      await watching;
      // Released in the middle of a restart: the process that it started has to be stopped, too.
      await supervision.running.stop(graceMs);
    },
  };
}

class Supervision<Running extends Part> {
  running: Running;
  isUp = true;
  private readonly options: SupervisorOptions<Running>;
  private readonly timing: SupervisorTiming;
  private isReleased = false;
  private quickDeaths = 0;
  private failedStarts = 0;
  /** The requested restart that has not begun yet. */
  private asked: PromiseWithResolvers<void> | null = null;
  /** Ends the pause before a restart early. */
  private wake = Promise.withResolvers<void>();

  constructor(options: SupervisorOptions<Running>, running: Running) {
    this.options = options;
    this.timing = { ...USUAL_TIMING, ...options.timing };
    this.running = running;
  }

  release(): void {
    this.isReleased = true;
    this.wake.resolve();
    this.asked?.resolve();
  }

  async restart(graceMs?: number): Promise<void> {
    this.asked ??= Promise.withResolvers<void>();
    const { promise } = this.asked;
    this.wake.resolve();
    if (this.isUp) await this.running.stop(graceMs);
    return promise;
  }

  /** Watches the part. Resolves when it is released or given up. */
  async watch(): Promise<void> {
    let startedAt = Date.now();
    let exit: Exit | null = await this.running.exited;
    while (!this.isReleased) {
      this.isUp = false;
      if (this.asked === null) {
        const isSound = Date.now() - startedAt >= this.timing.soundAfterMs;
        if (!(await this.recover(exit, isSound)) || this.isReleased) return;
      }
      startedAt = Date.now();
      const isStarted = await this.startAgain();
      // Released in the meantime: `stop` stops what was started here.
      if (this.isReleased) return;
      if (isStarted && this.asked !== null) await this.running.stop();
      exit = isStarted ? await this.running.exited : null;
    }
  }

  /** Waits before the next start; false when there is to be none. A null `exit` is a start that failed. */
  private async recover(exit: Exit | null, isSound: boolean): Promise<boolean> {
    const { name, warn, waitsForRestart = false } = this.options;
    // A part that is killed from outside did not fail by itself, however often that happens.
    const isFailure = !isSound && exit?.signal !== 'SIGKILL';
    this.failedStarts = isFailure ? this.failedStarts + 1 : 0;
    this.quickDeaths = isSound ? 0 : this.quickDeaths + 1;
    if (isFailure && waitsForRestart) {
      const lastWords = exit === null ? '' : this.lastWords();
      warn(`${name} ${describeExit(exit)} and waits for the next change. ${lastWords}`.trimEnd());
      await this.wake.promise;
      return true;
    }
    if (this.failedStarts >= FAILED_STARTS_MAX) {
      this.options.onGiveUp(
        new Error(
          `${name} ended ${FAILED_STARTS_MAX} times right after its start, so it is not started again. ${this.lastWords()}`,
        ),
      );
      return false;
    }
    warn(`${name} ${describeExit(exit)}; restarting it`);
    await this.pause(delayAfter(this.quickDeaths, this.timing));
    return true;
  }

  private async startAgain(): Promise<boolean> {
    const { asked } = this;
    this.asked = null;
    this.wake = Promise.withResolvers<void>();
    try {
      this.running = await this.options.start();
    } catch (error) {
      if (asked === null) this.options.warn(error instanceof Error ? error.message : String(error));
      asked?.reject(error);
      return false;
    }
    asked?.resolve();
    if (this.isReleased) return true;
    this.isUp = true;
    this.options.onRestart?.();
    return true;
  }

  private async pause(delayMs: number): Promise<void> {
    const timer = setTimeout(this.wake.resolve, delayMs);
    await this.wake.promise;
    clearTimeout(timer);
  }

  private lastWords(): string {
    return `Its last lines:\n${this.running.lastLines().join('\n')}`;
  }
}

function delayAfter(quickDeaths: number, timing: SupervisorTiming): number {
  return Math.min(timing.firstDelayMs * 2 ** Math.max(0, quickDeaths - 1), timing.delayMsMax);
}

function describeExit(exit: Exit | null): string {
  if (exit === null) return 'did not start';
  return exit.signal === null ? `ended (exit code ${exit.code})` : `ended (${exit.signal})`;
}
