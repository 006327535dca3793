// Starts workflows for creations: a few at once, users in rotation, and no caller waits for that line.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskToRun } from '../../domain/task-runs.ts';
import type { TaskWorkflows } from '../../workflows/client.ts';
import { createTurns, type EndTurn, type Turns } from '../http/turns.ts';

/** Starts that may wait for their turn; further ones are left to the sweeper. */
const WAITING_MAX = 4_000;
/** Starts under way at once in this process: few enough that Temporal acknowledges each of them soon. */
const TURN_LIMITS = {
  turnsMax: 16,
  turnsPerUserMax: 4,
  lineMax: WAITING_MAX,
  linesMax: WAITING_MAX,
  // A start that has waited this long is left to the sweeper, which finds its task unstarted by then.
  waitMsMax: 6_000,
  beginsPerRoundMax: 16,
} as const;
/** How long Temporal may take to acknowledge a start. */
const START_LIMIT_MS = 1_500;
/**
 * While more creations of a user than these wait for their turn, starts of the same user wait with them, for
 * HOLD_LIMIT_MS at most: the tasks would take the processors from the answers.
 */
const LINE_LONG = 16;
const HOLD_LIMIT_MS = 2_000;
const LOOK_EVERY_MS = 20;

type Starter = Pick<TaskWorkflows, 'startTaskWithin'>;

/**
 * `started`: Temporal has acknowledged the start. `waiting`: other starts wait, too; this one begins now or
 * soon, and its caller does not wait for it. `late`: Temporal has not answered in time; the sweeper starts
 * the task if nothing else does.
 */
export type StartOutcome = 'started' | 'waiting' | 'late';

export interface TaskStarts {
  /** Starts the workflow of a written task. Resolves after `waitMs` at the latest, and never throws. */
  start(task: TaskToRun, waitMs: number, origin: { requestId: string }): Promise<StartOutcome>;
  /** Resolves when no start is under way or waiting. */
  drain(): Promise<void>;
}

/** `creationTurns`: those that creations wait for. */
export function createTaskStarts(workflows: Starter, creationTurns: Pick<Turns, 'countWaiting'>): TaskStarts {
  const turns = createTurns(TURN_LIMITS);
  const unfinished = new Set<Promise<unknown>>();
  const holds = new Map<string, Promise<void>>();

  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    unfinished.add(work);
    void work.finally(() => unfinished.delete(work));
    return work;
  };
  const isLineLong = (userId: string): boolean => creationTurns.countWaiting(userId) > LINE_LONG;
  const untilLineIsShort = async (userId: string): Promise<void> => {
    const leaveAt = Date.now() + HOLD_LIMIT_MS;
    while (isLineLong(userId) && Date.now() < leaveAt) await sleep(LOOK_EVERY_MS);
    holds.delete(userId);
  };
  const findHold = (userId: string): Promise<void> | undefined => {
    if (isLineLong(userId) && !holds.has(userId)) holds.set(userId, untilLineIsShort(userId));
    return holds.get(userId);
  };
  return {
    start: async (task, waitMs, origin) => {
      const { userId } = task;
      const begin = async (end: EndTurn): Promise<StartOutcome> => {
        const isStarted = await workflows.startTaskWithin(task, START_LIMIT_MS, origin);
        end();
        return isStarted ? 'started' : 'late';
      };
      const hold = findHold(userId);
      const areOthersWaiting = holds.size > 0 || turns.countWaiting() > 0;
      const turn = hold ? null : turns.tryTake(userId);
      if (turn) {
        const started = track(begin(turn));
        return areOthersWaiting ? 'waiting' : within(waitMs, started);
      }
      if (unfinished.size >= WAITING_MAX) return 'late';
      const beginLater = async (): Promise<void> => {
        if (hold) await hold;
        const next = await turns.take(userId, NEVER);
        if (typeof next !== 'string') await begin(next);
      };
      void track(beginLater());
      return 'waiting';
    },
    drain: async () => {
      while (unfinished.size > 0) await Promise.allSettled(unfinished);
    },
  };
}

const NEVER = new AbortController().signal;

async function within(waitMs: number, started: Promise<StartOutcome>): Promise<StartOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), waitMs);
  });
  try {
    return await Promise.race([started, late]);
  } finally {
    clearTimeout(timer);
  }
}
