// Turns of requests: each user has a line, and the lines are served in rotation.
//
// Of a thousand creations that one user sends at once, four are authenticated and two are worked on; the
// others wait in that user's line without a database connection, and the request of another user is next.
// Long reads have turns of their own.

/**
 * Why a turn did not come. `line_full`: too many requests of the user wait; `lines_full`: of all users;
 * `late`: the wait was too long; `left`: the caller disconnected meanwhile.
 */
export type NoTurn = 'line_full' | 'lines_full' | 'late' | 'left';

/** Ends a turn. Safe to call again. */
export type EndTurn = () => void;

export interface Turns {
  /** Begins a turn of this user if one is free and no request waits for it; null otherwise. */
  tryTake(userId: string): EndTurn | null;
  /** Waits for a turn of this user, in the order of the calls, until `left` is aborted. */
  take(userId: string, left: AbortSignal): Promise<EndTurn | NoTurn>;
  /** How many requests wait for their turn at this moment: all of them, or those of one user. */
  countWaiting(userId?: string): number;
}

export interface TurnLimits {
  /** Turns at once in this process: each may hold a database connection. */
  turnsMax: number;
  /** Turns of one user at once. */
  turnsPerUserMax: number;
  /** Requests of one user that may wait for a turn. */
  lineMax: number;
  /** Requests of all users that may wait: each stays in memory. */
  linesMax: number;
  /** How long a request waits for a turn; longer than a line takes, unless the database hangs. */
  waitMsMax: number;
  /**
   * Turns that begin at once in a round of the event loop, and once more for those who wait: what is worked
   * on in a round delays all that comes after.
   */
  beginsPerRoundMax: number;
}

interface Waiter {
  settle(outcome: EndTurn | NoTurn): void;
}

interface Line {
  running: number;
  waiting: Set<Waiter>;
}

export function createTurns(limits: TurnLimits): Turns {
  return new Lines(limits);
}

class Lines implements Turns {
  readonly #limits: TurnLimits;
  readonly #lines = new Map<string, Line>();
  /** Users with a waiting request that may begin, in the order in which they are served. */
  readonly #ready = new Set<string>();
  #running = 0;
  #waiting = 0;
  /** Turns that began in this round of the event loop. */
  #begun = 0;
  #isServing = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  countWaiting(userId?: string): number {
    return userId === undefined ? this.#waiting : (this.#lines.get(userId)?.waiting.size ?? 0);
  }

  tryTake(userId: string): EndTurn | null {
    const line = this.#lineOf(userId);
    const hasRoom = this.#hasRoom() && line.running < this.#limits.turnsPerUserMax;
    return hasRoom && line.waiting.size === 0 ? this.#begin(userId, line) : null;
  }

  async take(userId: string, left: AbortSignal): Promise<EndTurn | NoTurn> {
    if (left.aborted) return 'left';
    const turn = this.tryTake(userId);
    if (turn) return turn;
    const line = this.#lineOf(userId);
    if (line.waiting.size >= this.#limits.lineMax) return 'line_full';
    if (this.#waiting >= this.#limits.linesMax) return 'lines_full';
    return this.#wait(userId, line, left);
  }

  #lineOf(userId: string): Line {
    return this.#lines.get(userId) ?? { running: 0, waiting: new Set() };
  }

  #hasRoom(): boolean {
    return this.#running < this.#limits.turnsMax && this.#begun < this.#limits.beginsPerRoundMax;
  }

  /** Whether a turn could begin in the next round, or this round's are still counted. */
  #hasMore(): boolean {
    return this.#begun > 0 || (this.#ready.size > 0 && this.#running < this.#limits.turnsMax);
  }

  #begin(userId: string, line: Line): EndTurn {
    this.#running += 1;
    this.#begun += 1;
    line.running += 1;
    this.#arrange(userId, line);
    this.#serveSoon();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      line.running -= 1;
      this.#arrange(userId, line);
      this.#serveSoon();
    };
  }

  #wait(userId: string, line: Line, left: AbortSignal): Promise<EndTurn | NoTurn> {
    const { promise, resolve } = Promise.withResolvers<EndTurn | NoTurn>();
    const give = (reason: NoTurn) => (): void => {
      this.#remove(userId, line, waiter);
      waiter.settle(reason);
    };
    const leave = give('left');
    const timer = setTimeout(give('late'), this.#limits.waitMsMax);
    const waiter: Waiter = {
      settle: (outcome) => {
        clearTimeout(timer);
        left.removeEventListener('abort', leave);
        resolve(outcome);
      },
    };
    left.addEventListener('abort', leave);
    line.waiting.add(waiter);
    this.#waiting += 1;
    this.#arrange(userId, line);
    this.#serveSoon();
    return promise;
  }

  #remove(userId: string, line: Line, waiter: Waiter): void {
    if (line.waiting.delete(waiter)) this.#waiting -= 1;
    this.#arrange(userId, line);
  }

  /** Keeps a line while it is used, and its user in the rotation while one of theirs may begin. */
  #arrange(userId: string, line: Line): void {
    if (line.running + line.waiting.size > 0) this.#lines.set(userId, line);
    else this.#lines.delete(userId);
    const mayBegin = line.waiting.size > 0 && line.running < this.#limits.turnsPerUserMax;
    if (mayBegin) this.#ready.add(userId);
    else this.#ready.delete(userId);
  }

  /** Serves lines once in each round of the event loop, so that other requests are handled between. */
  #serveSoon(): void {
    if (this.#isServing || !this.#hasMore()) return;
    this.#isServing = true;
    setImmediate(() => {
      this.#isServing = false;
      this.#begun = 0;
      while (this.#ready.size > 0 && this.#hasRoom()) this.#serveNext();
      this.#serveSoon();
    });
  }

  #serveNext(): void {
    const [userId] = this.#ready;
    if (userId === undefined || !this.#hasRoom()) return;
    this.#ready.delete(userId); // `arrange` puts the user back, behind all others
    const line = this.#lines.get(userId);
    const [waiter] = line?.waiting ?? [];
    if (!line || !waiter) return;
    this.#remove(userId, line, waiter);
    this.#ready.delete(userId);
    waiter.settle(this.#begin(userId, line));
  }
}
