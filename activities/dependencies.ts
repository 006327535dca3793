// What the worker gives to activities. Each activity forks its own EntityManager.
import type { Database } from '../db/database.ts';
import type { Secrets } from '../db/secrets.ts';
import type { Model } from '../domain/catalog/catalog.ts';
import type { Retention } from '../domain/retention.ts';
import type { TaskRuns } from '../domain/task-runs.ts';
import type { Log } from '../log.ts';
import type { Providers } from '../providers/registry.ts';
import type { Storage } from '../storage/storage.ts';

export interface ActivityDependencies {
  database: Database;
  secrets: Secrets;
  providers: Providers;
  /** The models of the catalogue, by id. */
  models: ReadonlyMap<string, Model>;
  storage: Storage;
  taskRuns: TaskRuns;
  log: Pick<Log, 'warn' | 'error'>;
  runningTasksPerUserMax: number;
  requestKeptDays: number;
  retention: Retention;
  /** How long a chat call lives without renewal of its lease. */
  chatLeaseSeconds: number;
}

/** The largest result that is copied to storage. */
export const RESULT_BYTES_MAX = 2 * 1024 ** 3;
