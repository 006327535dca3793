// How long work waits that found no place at its vendor: the more of its user's work waits in this process,
// the longer.

const WAIT_MS_MIN = 2_000;
/**
 * Work counts as waiting for a minute after it was refused a place (`CHOOSE_CREDENTIAL`). A wait that reaches
 * beyond the deadline ends its task at once: work that finds a place in its last half minute is hardly done
 * in time, and its vendor bills it all the same.
 */
const WAIT_MS_MAX = 30_000;
/**
 * Of one family, in equal parts for the users whose work waits: each try is a step for Temporal and a
 * statement. Work that `WAIT_MS_MAX` lets ask earlier adds one to these for each 30 tasks.
 */
const TRIES_PER_SECOND = 20;
/** Work that did not come back so long after its time has ended, or another worker has it. */
const FORGOTTEN_AFTER_MS = 60_000;

interface FamilyWork {
  /** By task, the one that was refused first to the front. */
  tasks: Map<string, { userId: string; asksAtMs: number }>;
  /** How many of these each user has, for users who have any. */
  counts: Map<string, number>;
}

/** The work that waits, of this process. */
export class WaitingWork {
  readonly #families = new Map<string, FamilyWork>();

  /** Notes that the task found no place, and answers for how long it should wait, in milliseconds. */
  wait(family: string, { id, userId }: { id: string; userId: string }, nowMs: number): number {
    const work = this.#families.get(family) ?? { tasks: new Map(), counts: new Map() };
    this.#families.set(family, work);
    remove(work, id);
    for (const [otherId, { asksAtMs }] of work.tasks) {
      if (asksAtMs + FORGOTTEN_AFTER_MS > nowMs) break;
      remove(work, otherId);
    }
    const count = (work.counts.get(userId) ?? 0) + 1;
    work.counts.set(userId, count);
    const turnMs = ((count * work.counts.size) / TRIES_PER_SECOND) * 1000;
    const waitMs = Math.min(Math.max(turnMs, WAIT_MS_MIN), WAIT_MS_MAX);
    work.tasks.set(id, { userId, asksAtMs: nowMs + waitMs });
    return waitMs;
  }

  /** Notes that the task waits no longer. */
  end(family: string, taskId: string): void {
    const work = this.#families.get(family);
    if (work) remove(work, taskId);
  }
}

function remove({ tasks, counts }: FamilyWork, taskId: string): void {
  const task = tasks.get(taskId);
  if (!task) return;
  tasks.delete(taskId);
  const count = (counts.get(task.userId) ?? 1) - 1;
  if (count === 0) counts.delete(task.userId);
  else counts.set(task.userId, count);
}
