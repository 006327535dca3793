// How long work waits that found no place at its vendor: the longer the more of its family waits here.

const WAIT_MS_MIN = 2_000;
/** Work counts as waiting for a minute after it was refused a place (`CHOOSE_CREDENTIAL`). */
const WAIT_MS_MAX = 30_000;
/** Of one family, however much of its work waits: each try is a step for Temporal and a statement. */
const TRIES_PER_SECOND_MAX = 20;
/** Work that did not come back so long after its time has ended, or another worker has it. */
const FORGOTTEN_AFTER_MS = 60_000;

/** The work that waits, of this process. */
export class WaitingWork {
  /** By family: when each task asks again, the one that was refused first to the front. */
  readonly #families = new Map<string, Map<string, number>>();

  /** Notes that the task found no place, and answers for how long it should wait, in milliseconds. */
  wait(family: string, taskId: string, nowMs: number): number {
    const dueAt = this.#families.get(family) ?? new Map<string, number>();
    this.#families.set(family, dueAt);
    dueAt.delete(taskId);
    for (const [id, at] of dueAt) {
      if (at + FORGOTTEN_AFTER_MS > nowMs) break;
      dueAt.delete(id);
    }
    const turnMs = ((dueAt.size + 1) / TRIES_PER_SECOND_MAX) * 1000;
    const waitMs = Math.min(Math.max(turnMs, WAIT_MS_MIN), WAIT_MS_MAX);
    dueAt.set(taskId, nowMs + waitMs);
    return waitMs;
  }

  /** Notes that the task waits no longer. */
  end(family: string, taskId: string): void {
    this.#families.get(family)?.delete(taskId);
  }
}
