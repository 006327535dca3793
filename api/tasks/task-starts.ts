// Starts the workflows of written tasks: a few at once, users in rotation. No caller waits for it.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { TaskToRun } from '../../domain/task-runs.ts';
import type { Log } from '../../log.ts';
import type { TaskWorkflows } from '../../workflows/client.ts';
import { createTurns, type Turns } from '../http/turns.ts';

/** Starts that may wait for their turn; further ones are left to the sweeper. */
const WAITING_MAX = 10_000;
/** Starts under way at once in this process: few enough that Temporal acknowledges each of them soon. */
const TURN_LIMITS = {
  turnsMax: 16,
  turnsPerUserMax: 4,
  lineMax: WAITING_MAX,
  linesMax: WAITING_MAX,
  // A burst of thousands takes longer than until the sweeper looks for lost starts. Both start then, and the
  // second start of a task is none.
  waitMsMax: 120_000,
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

interface Options {
  workflows: Pick<TaskWorkflows, 'startTaskWithin'>;
  /** Those that creations wait for. */
  creationTurns: Pick<Turns, 'countWaiting'>;
  log: Log;
}

export interface TaskStarts {
  /**
   * Starts the workflow of a written task, soon, and returns at once. What Temporal does not acknowledge in
   * time is left to the sweeper.
   */
  start(task: TaskToRun, origin: { requestId: string }): void;
  /** Resolves when the start is over that is under way or waiting for this task; null without one. */
  underWay(taskId: string): Promise<void> | null;
  /**
   * Starts what waits, for so long at most, and leaves the rest to the sweeper. Resolves when none is under
   * way.
   */
  drain(limitMs: number): Promise<void>;
}

export function createTaskStarts({ workflows, creationTurns, log }: Options): TaskStarts {
  const turns = createTurns(TURN_LIMITS);
  const leaving = new AbortController();
  const unfinished = new Map<string, Promise<void>>();
  const holds = new Map<string, Promise<void>>();

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
  const tryStart = async (task: TaskToRun, origin: { requestId: string }): Promise<boolean> => {
    await setImmediate(); // the answer goes out first
    await findHold(task.userId);
    const turn = await turns.take(task.userId, leaving.signal);
    if (typeof turn === 'string') return false;
    const isStarted = await workflows.startTaskWithin(task, START_LIMIT_MS, origin);
    turn();
    return isStarted;
  };
  const startOrTell = async (task: TaskToRun, origin: { requestId: string }): Promise<void> => {
    const hasRoom = unfinished.size < WAITING_MAX;
    if (hasRoom && (await tryStart(task, origin))) return;
    log.warn({ taskId: task.id, ...origin }, 'a task is not started yet: the sweeper will start it');
  };
  return {
    start: (task, origin) => {
      const starting = startOrTell(task, origin);
      unfinished.set(task.id, starting);
      void starting.finally(() => {
        if (unfinished.get(task.id) === starting) unfinished.delete(task.id);
      });
    },
    underWay: (taskId) => unfinished.get(taskId) ?? null,
    drain: async (limitMs) => {
      setTimeout(() => leaving.abort(), limitMs).unref();
      while (unfinished.size > 0) await Promise.all(unfinished.values());
    },
  };
}
