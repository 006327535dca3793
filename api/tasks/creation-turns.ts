// Turns of creations: each user has a line of their own, and the lines are served in rotation.
//
// Of a thousand creations that one user sends at once, two are worked on; the others wait in that user's line
// without a database connection, and the creation of another user is next.

/**
 * Why a turn did not come. `line_full`: too many creations of the user wait; `lines_full`: of all users;
 * `late`: the wait was too long; `left`: the caller disconnected meanwhile.
 */
export type NoTurn = 'line_full' | 'lines_full' | 'late' | 'left';

/** Ends a turn. Safe to call again. */
export type EndTurn = () => void;

export interface CreationTurns {
  /** Waits for a turn of this user, in the order of the calls, until `left` is aborted. */
  take(userId: string, left: AbortSignal): Promise<EndTurn | NoTurn>;
  /** How many creations wait for their turn at this moment. */
  countWaiting(): number;
}

export interface CreationTurnLimits {
  /** Turns at once in this process: each may hold a database connection. */
  turnsMax: number;
  /** Turns of one user at once. More would only wait for the lock on the user's account. */
  turnsPerUserMax: number;
  /** Creations of one user that may wait for a turn. */
  lineMax: number;
  /** Creations of all users that may wait: each keeps its request in memory. */
  linesMax: number;
  /** How long a creation waits for a turn; longer than a line takes, unless the database hangs. */
  waitMsMax: number;
}

export const CREATION_TURN_LIMITS = {
  turnsPerUserMax: 2,
  lineMax: 500,
  linesMax: 4_000,
  waitMsMax: 30_000,
} as const;

interface Waiter {
  settle(outcome: EndTurn | NoTurn): void;
}

interface Line {
  running: number;
  waiting: Set<Waiter>;
}

export function createCreationTurns(limits: CreationTurnLimits): CreationTurns {
  const lines = new Map<string, Line>();
  /** Users with a waiting creation that may begin, in the order in which they are served. */
  const ready = new Set<string>();
  let running = 0;
  let waiting = 0;
  let isServing = false;

  const lineOf = (userId: string): Line => {
    const line = lines.get(userId) ?? { running: 0, waiting: new Set() };
    lines.set(userId, line);
    return line;
  };
  const hasRoom = (line: Line): boolean => running < limits.turnsMax && line.running < limits.turnsPerUserMax;

  /** Puts the user at the end of the rotation if a creation of theirs may begin. */
  const queueUp = (userId: string, line: Line): void => {
    if (line.waiting.size > 0 && line.running < limits.turnsPerUserMax) ready.add(userId);
    else if (line.waiting.size === 0) {
      ready.delete(userId);
      if (line.running === 0) lines.delete(userId);
    }
  };
  const begin = (userId: string, line: Line): EndTurn => {
    running += 1;
    line.running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      line.running -= 1;
      queueUp(userId, line);
      serveSoon();
    };
  };
  /** Serves one line in each round of the event loop, so that other requests are handled between. */
  const serveSoon = (): void => {
    if (isServing || ready.size === 0 || running >= limits.turnsMax) return;
    isServing = true;
    setImmediate(() => {
      isServing = false;
      serveNext();
      serveSoon();
    });
  };
  const serveNext = (): void => {
    const [userId] = ready;
    if (userId === undefined || running >= limits.turnsMax) return;
    ready.delete(userId);
    const line = lineOf(userId);
    const [waiter] = line.waiting;
    if (!waiter) return;
    line.waiting.delete(waiter);
    waiting -= 1;
    const endTurn = begin(userId, line);
    queueUp(userId, line);
    waiter.settle(endTurn);
  };
  const wait = (userId: string, line: Line, left: AbortSignal): Promise<EndTurn | NoTurn> => {
    const { promise, resolve } = Promise.withResolvers<EndTurn | NoTurn>();
    const give = (reason: NoTurn) => (): void => {
      line.waiting.delete(waiter);
      waiting -= 1;
      queueUp(userId, line);
      waiter.settle(reason);
    };
    const leave = give('left');
    const timer = setTimeout(give('late'), limits.waitMsMax);
    const waiter: Waiter = {
      settle: (outcome) => {
        clearTimeout(timer);
        left.removeEventListener('abort', leave);
        resolve(outcome);
      },
    };
    left.addEventListener('abort', leave);
    line.waiting.add(waiter);
    waiting += 1;
    queueUp(userId, line);
    serveSoon();
    return promise;
  };

  return {
    countWaiting: () => waiting,
    take: async (userId, left) => {
      if (left.aborted) return 'left';
      const line = lineOf(userId);
      if (line.waiting.size === 0 && hasRoom(line)) return begin(userId, line);
      const isFull = line.waiting.size >= limits.lineMax;
      if (!isFull && waiting < limits.linesMax) return wait(userId, line, left);
      queueUp(userId, line);
      return isFull ? 'line_full' : 'lines_full';
    },
  };
}
