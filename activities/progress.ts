// Notes how far vendors' jobs have come: what rose within a second is written with one statement.
import type { TaskAttempt } from '../domain/tasks.ts';

export interface Progress {
  task: TaskAttempt;
  /** Percent, from 1 to 99. */
  percent: number;
}

export interface ProgressNotes {
  /** Has the progress written soon. Never throws: what cannot be written comes again with the next look. */
  note(progress: Progress): void;
}

/** No reader is told sooner: changes of tasks are looked for once a second (`api/events/watcher.ts`). */
const WRITE_EVERY_MS = 1_000;
/** Rows that one statement changes; the others follow with the next one. */
const WRITTEN_AT_ONCE_MAX = 1_000;

export function createProgressNotes(write: (noted: readonly Progress[]) => Promise<void>): ProgressNotes {
  const noted = new Map<string, Progress>();
  let isWriting = false;

  /** One statement at a time, so that progress leaves the connections to other steps. */
  const writeNoted = async (): Promise<void> => {
    const due = [...noted.values()].slice(0, WRITTEN_AT_ONCE_MAX);
    for (const { task } of due) noted.delete(task.taskId);
    try {
      await write(due);
    } catch {
      // The next looks bring these again, or more.
    }
    isWriting = false;
    if (noted.size > 0) writeSoon();
  };
  const writeSoon = (): void => {
    if (isWriting) return;
    isWriting = true;
    setTimeout(() => void writeNoted(), WRITE_EVERY_MS).unref();
  };

  return {
    note: (progress) => {
      noted.set(progress.task.taskId, progress);
      writeSoon();
    },
  };
}
