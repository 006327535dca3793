// Starting, cancelling and looking at the workflow of a task, without knowing Temporal.
import type { TaskMode } from './tasks.ts';

/** What a workflow starts with; a row of the task log has all of it. */
export interface TaskToRun {
  id: string;
  attempt: number;
  mode: TaskMode;
  model: string;
  family: string;
  userId: string;
}

/** `unknown`: Temporal has no workflow of this task. `closed`: also one of an earlier attempt that closes. */
export type TaskRunState = 'running' | 'closed' | 'unknown';

/** The run of an attempt; attempt null: the newest run, of whichever attempt. */
export interface RunToCancel {
  id: string;
  attempt: number | null;
}

export interface TaskRuns {
  /** Starts the task without waiting; `false` when the previous run of the same task is still closing. */
  startTask(task: TaskToRun): Promise<boolean>;
  /**
   * Asks the run of the attempt to stop and waits, at most `waitMs` (0: not at all), for its end. Never
   * throws. The run of another attempt goes on: the task may have failed and been retried since.
   */
  cancelTask(task: RunToCancel, waitMs: number): Promise<TaskRunState | 'unreachable'>;
  describeTask(task: Pick<TaskToRun, 'id' | 'attempt'>): Promise<TaskRunState>;
  /**
   * The ids of all tasks whose workflow runs; one that began or ended in this second may be wrong. Rejects
   * when the list takes longer than `waitMs`.
   */
  listRunning(waitMs: number): Promise<string[]>;
}
