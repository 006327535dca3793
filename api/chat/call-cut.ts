// Cuts a call off from its upstream, until its whole answer has come or its stream has begun.

/**
 * `left`: the caller disconnected. `lost`: the sweeper settled the call, because its lease was over.
 * `too_long`: the answer took too long.
 */
export type CallCutCause = 'left' | 'lost' | 'too_long' | 'stopping';

export class CallCut {
  readonly #controller = new AbortController();
  #cause: CallCutCause | null = null;
  #isLost = false;
  #isReleased = false;
  #timer: NodeJS.Timeout | undefined;
  #leaveStops = (): void => undefined;
  #tellOfLoss = (): void => undefined;

  /** Aborted when the call is cut. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call was cut first; null while it was not. */
  get cause(): CallCutCause | null {
    return this.#cause;
  }

  /** Does nothing after `release`. */
  cut(cause: CallCutCause): void {
    if (this.#isReleased) return;
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** Cuts the call because its reservation is lost. After `release` the watcher of that is still told. */
  lose(): void {
    this.#isLost = true;
    this.cut('lost');
    this.#tellOfLoss();
  }

  /** Calls `then` when the reservation is lost, at once if it is. */
  watchLoss(then: () => void): void {
    this.#tellOfLoss = then;
    if (this.#isLost) then();
  }

  cutWhenLeft(disconnected: AbortSignal): void {
    disconnected.addEventListener('abort', () => this.cut('left'), { once: true });
    if (disconnected.aborted) this.cut('left');
  }

  /** Cuts the call when the process stops, and after `secondsMax`. */
  cutInTheEnd(stops: CutsAtStop, secondsMax: number): void {
    this.#timer = setTimeout(() => this.cut('too_long'), secondsMax * 1000);
    this.#leaveStops = stops.enter(() => this.cut('stopping'));
  }

  release(): void {
    this.#isReleased = true;
    clearTimeout(this.#timer);
    this.#leaveStops();
  }
}

/**
 * What is cut when the process stops: whole answers and streams. In places of one array: listeners of one
 * signal are linked to each other, and a dead old one keeps all later ones until the whole heap is collected.
 */
export class CutsAtStop {
  readonly #stopping: AbortSignal;
  readonly #places: ((() => void) | null)[] = [];
  readonly #free: number[] = [];

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => {
      for (const cut of this.#places) cut?.();
    });
  }

  /** Calls `cut` at the stop, at once if that was before. Returns the function that takes it out. */
  enter(cut: () => void): () => void {
    const place = this.#free.pop() ?? this.#places.length;
    this.#places[place] = cut;
    if (this.#stopping.aborted) cut();
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#places[place] = null;
      this.#free.push(place);
    };
  }
}
