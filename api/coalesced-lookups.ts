// Request coalescing: shares a database lookup between requests for the same thing that arrive together.

interface Running<Value> {
  now: Promise<Value>;
  /** The lookup that begins when `now` has ended; null while no request waits for it. */
  next: Promise<Value> | null;
}

/**
 * Lookups by name, at most one at a time for each. Unlike with single-flight, a request that arrives during a
 * lookup shares the next one with all others that arrived meanwhile: what it is answered was read after it
 * asked, so that a key revoked before is never found.
 */
export class CoalescedLookups<Value> {
  readonly #running = new Map<string, Running<Value>>();

  find(name: string, lookUp: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(name);
    if (!running) return this.#begin(name, lookUp);
    running.next ??= running.now.then(ignore, ignore).then(() => this.#begin(name, lookUp));
    return running.next;
  }

  #begin(name: string, lookUp: () => Promise<Value>): Promise<Value> {
    const now = lookUp();
    const running: Running<Value> = { now, next: null };
    this.#running.set(name, running);
    const end = (): void => {
      if (running.next === null) this.#running.delete(name);
    };
    now.then(end, end);
    return now;
  }
}

const ignore = (): void => undefined;
