// What activities are given by the worker. Each activity forks its own EntityManager.
import type { Secrets } from '../db/secrets.ts';
import type { Providers } from '../providers/registry.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../db/database.ts';

/** The part of a logger that activities use. */
export interface ActivityLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How the sweeper starts and looks at workflows; the engine's client fits. */
export interface SweepEngine {
  startTask(task: {
    id: string;
    attempt: number;
    mode: 'text' | 'image' | 'video';
    model: string;
    family: string;
    userId: string;
  }): Promise<boolean>;
  cancelTask(taskId: string, waitMs: number): Promise<'closed' | 'running' | 'unknown' | 'unreachable'>;
  describeTask(taskId: string): Promise<'running' | 'closed' | 'unknown'>;
}

export interface ActivityDependencies {
  database: Database;
  secrets: Secrets;
  providers: Providers;
  storage: Storage;
  engine: SweepEngine;
  log: ActivityLog;
  runningTasksPerUserMax: number;
  requestKeptDays: number;
}

/** The largest result that is copied to storage. */
export const RESULT_BYTES_MAX = 2 * 1024 ** 3;
