// Decides when a stream is cut from our side: its reader left or does not read, it lives too long, its
// reservation is lost, or the process stops.
import type { Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import type { CallCut, CutsAtStop } from './call-cut.ts';

/**
 * `left`: the caller disconnected. `unread`: the caller stays, and takes nothing. `lost`: the sweeper settled
 * the call, because its lease was over.
 */
export type CutCause = 'left' | 'unread' | 'too_long' | 'lost' | 'stopping';

export interface StreamLimits {
  /** Silence before a comment is sent to keep the connection open. */
  commentEveryMs: number;
  /** Longest life of a stream. */
  secondsMax: number;
  /** Longest time in which the reader takes nothing. */
  readerPauseMs: number;
}

/**
 * Default of `commentEveryMs`: proxies on the way to the caller cut connections that are silent for longer.
 */
export const COMMENT_EVERY_MS = 10_000;
/** Default of `readerPauseMs`. */
export const READER_PAUSE_MS = 60_000;

export interface StreamCutOptions extends Omit<StreamLimits, 'commentEveryMs'> {
  body: { destroy(): unknown };
  /** Aborted when the caller disconnects. */
  disconnected: AbortSignal;
  cutsAtStop: CutsAtStop;
  /** Tells when the reservation is lost: what comes then would not be paid for. */
  callCut: CallCut;
  /** Whether the upstream has ended its answer, so that only the usage is left to come. */
  isAnswerComplete: () => boolean;
}

/** Time to take over what has already arrived from the upstream when a caller leaves. */
const ARRIVED_WAIT_MS = 20;
/** Longest wait for the usage of an answer that is complete. It decides what the caller is charged. */
const USAGE_WAIT_MS = 2_000;

export class StreamCut {
  readonly #options: StreamCutOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #leaveStops: () => void;
  #cause: CutCause | null = null;
  /** Ends the wait for the reader. */
  #wake = (): void => undefined;

  /** Begins to watch; `release` ends that. */
  constructor(options: StreamCutOptions) {
    this.#options = options;
    const { disconnected, cutsAtStop, callCut, secondsMax } = options;
    disconnected.addEventListener('abort', this.#leave);
    this.#timers.push(setTimeout(() => this.#cut('too_long'), secondsMax * 1000));
    this.#leaveStops = cutsAtStop.enter(() => this.#cut('stopping'));
    callCut.watchLoss(() => this.#cut('lost'));
    if (disconnected.aborted) this.#leave();
  }

  /** Why the stream was cut; null while it was not. */
  get cause(): CutCause | null {
    return this.#cause;
  }

  /** Returns the error that the caller reads; null where nothing was cut, or the caller has left. */
  error(): GatewayError | null {
    const { secondsMax, readerPauseMs } = this.#options;
    if (this.#cause === 'stopping' || this.#cause === 'lost') return new GatewayError('service_unavailable');
    if (this.#cause === 'too_long')
      return streamTimeout(`A stream may take at most ${secondsMax} seconds. What was delivered is charged.`);
    if (this.#cause === 'unread')
      return streamTimeout(`Nothing of the stream was read for ${readerPauseMs / 1000} seconds.`);
    return null;
  }

  /**
   * Waits until a slow reader has taken what was written; that holds the upstream back. Resolves also when
   * the stream is cut or the caller leaves.
   */
  async untilRead(res: Response): Promise<void> {
    const { disconnected, readerPauseMs } = this.#options;
    if (res.destroyed || disconnected.aborted || this.#cause !== null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#cut('unread'), readerPauseMs);
      const wake = (): void => {
        clearTimeout(timer);
        res.off('drain', wake);
        resolve();
      };
      this.#wake = wake;
      res.once('drain', wake);
    });
  }

  release(): void {
    const { disconnected, callCut } = this.#options;
    this.#leaveStops();
    callCut.watchLoss(() => undefined);
    disconnected.removeEventListener('abort', this.#leave);
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #cut(cause: CutCause): void {
    this.#cause ??= cause;
    this.#options.body.destroy();
    this.#wake();
  }

  readonly #leave = (): void => {
    this.#wake();
    const judge = (): void => {
      if (!this.#options.isAnswerComplete()) return this.#cut('left');
      this.#timers.push(setTimeout(() => this.#cut('left'), USAGE_WAIT_MS));
    };
    this.#timers.push(setTimeout(judge, ARRIVED_WAIT_MS));
  };
}

function streamTimeout(message: string): GatewayError {
  return new GatewayError('stream_timeout', { message });
}
