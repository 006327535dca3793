// Starts workflows for creations: a few at once, the others in line, and no caller waits for that line.
import type { TaskToRun } from '../../domain/task-runs.ts';
import type { TaskWorkflows } from '../../workflows/client.ts';

/** Starts under way at once in this process: few enough that Temporal acknowledges each of them soon. */
const STARTS_MAX = 16;
/** The same while creations wait for their turn: their answers come first. */
const STARTS_MAX_BESIDE_LINES = 2;
/** Starts that may wait for their turn; further ones are left to the sweeper. */
const WAITING_MAX = 4_000;
/** How long Temporal may take to acknowledge a start. */
const START_LIMIT_MS = 1_500;
/** A start that has waited this long is left to the sweeper, which finds its task unstarted by then. */
const WAIT_LIMIT_MS = 8_000;

type Starter = Pick<TaskWorkflows, 'startTaskWithin'>;

/**
 * `started`: Temporal has acknowledged the start. `waiting`: others are started first, and this one soon.
 * `late`: Temporal has not answered in time; the sweeper starts the task if nothing else does.
 */
export type StartOutcome = 'started' | 'waiting' | 'late';

export interface TaskStarts {
  /** Starts the workflow of a written task. Resolves after `waitMs` at the latest, and never throws. */
  start(task: TaskToRun, waitMs: number, origin: { requestId: string }): Promise<StartOutcome>;
  /** Resolves when no start is under way or waiting. */
  drain(): Promise<void>;
}

/** `doCreationsWait`: whether a creation waits for its turn at this moment. */
export function createTaskStarts(workflows: Starter, doCreationsWait: () => boolean): TaskStarts {
  const waiting: (() => Promise<void>)[] = [];
  const underWay = new Set<Promise<void>>();

  const serve = (): void => {
    while (waiting.length > 0 && hasRoom()) {
      const begin = waiting.shift();
      if (begin) track(begin());
    }
  };
  const hasRoom = (): boolean => underWay.size < (doCreationsWait() ? STARTS_MAX_BESIDE_LINES : STARTS_MAX);
  const track = (work: Promise<void>): void => {
    underWay.add(work);
    void work.finally(() => {
      underWay.delete(work);
      serve();
    });
  };
  return {
    start: async (task, waitMs, origin) => {
      const started = Promise.withResolvers<StartOutcome>();
      const begin = async (): Promise<void> => {
        const isStarted = await workflows.startTaskWithin(task, START_LIMIT_MS, origin);
        started.resolve(isStarted ? 'started' : 'late');
      };
      if (waiting.length === 0 && hasRoom()) {
        track(begin());
        return within(waitMs, started.promise);
      }
      if (waiting.length >= WAITING_MAX) return 'late';
      const leaveAt = Date.now() + WAIT_LIMIT_MS;
      waiting.push(async () => {
        if (Date.now() < leaveAt) await begin();
      });
      return 'waiting';
    },
    drain: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

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
