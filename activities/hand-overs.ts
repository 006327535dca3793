// The hand-overs that are under way in this process: one clock for their heartbeats, freshness and
// cancellations, so that a thousand of them cost little.
import { Context } from '@temporalio/activity';
import type { TaskAttempt } from '../domain/tasks.ts';

/** How often the clock looks what is due. */
const TICK_MS = 250;
/** Temporal misses a hand-over after 15 seconds (`workflows/activities.ts`): after three beats. */
const BEAT_MS = 5_000;
/** A submission counts as abandoned after 15 seconds (`FRESH_SECONDS`): after three of these. */
const FRESHEN_MS = 5_000;
/** Submissions that one statement keeps fresh; the others follow with the next tick. */
const FRESHEN_MAX = 500;

/** What the clock needs of the database. */
export interface HandOverStore {
  /** Writes that the submissions of these attempts are still under way. */
  keepFresh(tasks: readonly TaskAttempt[]): Promise<void>;
  /** Returns the ids of open tasks whose owner has asked for their cancellation. */
  findCancelRequested(): Promise<string[]>;
}

export interface HandOvers {
  /**
   * Runs `work` within an activity: heartbeats tell Temporal that this worker lives, and the submission is
   * kept fresh. A heartbeat is sent at once when the task's owner asks for the cancellation, because
   * Temporal's answer to a heartbeat is what cancels the activity.
   */
  run<Result>(task: TaskAttempt, phase: string, work: () => Promise<Result>): Promise<Result>;
}

interface HandOver {
  task: TaskAttempt;
  beat(): void;
  beatsAt: number;
  freshensAt: number;
}

export function createHandOvers(store: HandOverStore, now = (): number => performance.now()): HandOvers {
  const underWay = new Set<HandOver>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let isFreshening = false;

  const tick = (): void => {
    for (const handOver of underWay) if (now() >= handOver.beatsAt) beat(handOver);
    if (!isFreshening) void freshenDue();
    if (!isLooking) void hastenCancelled();
  };
  const beat = (handOver: HandOver): void => {
    handOver.beatsAt = now() + BEAT_MS;
    handOver.beat();
  };
  /** One statement at a time, so that freshness leaves the connections to other steps. */
  const freshenDue = async (): Promise<void> => {
    const due = [...underWay].filter(({ freshensAt }) => now() >= freshensAt).slice(0, FRESHEN_MAX);
    if (due.length === 0) return;
    isFreshening = true;
    for (const handOver of due) handOver.freshensAt = now() + FRESHEN_MS;
    await store.keepFresh(due.map(({ task }) => task)).catch(ignore); // the next one is due soon
    isFreshening = false;
  };
  /** Repeated in each round: the request in the row may be there before Temporal knows of it. */
  const hastenCancelled = async (): Promise<void> => {
    isLooking = true;
    const cancelled = new Set(await store.findCancelRequested().catch(() => []));
    for (const handOver of underWay) if (cancelled.has(handOver.task.taskId)) beat(handOver);
    isLooking = false;
  };

  return {
    run: async (task, phase, work) => {
      const context = Context.current();
      const handOver: HandOver = {
        task,
        beat: () => context.heartbeat({ phase }),
        beatsAt: now() + BEAT_MS,
        freshensAt: now() + FRESHEN_MS,
      };
      underWay.add(handOver);
      timer ??= setInterval(tick, TICK_MS);
      try {
        return await work();
      } finally {
        underWay.delete(handOver);
        if (underWay.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
  };
}

const ignore = (): void => undefined;
