// What the worker gives to activities. Each activity forks its own EntityManager.
import type { Database } from '../db/database.ts';
import type { LossBrake } from '../db/ledger/loss-brake.ts';
import type { Secrets } from '../db/secrets.ts';
import type { Model } from '../domain/catalog/catalog.ts';
import type { Retention } from '../domain/retention.ts';
import type { TaskRuns } from '../domain/task-runs.ts';
import type { WebhookFailure } from '../domain/webhooks.ts';
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
  lossBrake: LossBrake;
  requestKeptDays: number;
  retention: Retention;
  /** How long a chat call lives without renewal of its lease. */
  chatLeaseSeconds: number;
  webhooks: WebhookDependencies;
}

/** What the delivery of webhooks needs. */
export interface WebhookDependencies {
  /** The pauses between attempts, in their order; the attempt after the last pause is the last one. */
  retryDelaysMs: readonly number[];
  /** First attempts under way at once in this process, and as many later ones. */
  attemptsMax: number;
  /** Whether an address may be local and without TLS, as development permits. */
  trustsOrigin: (url: URL) => boolean;
  /** The address of this service as callers know it. */
  publicUrl: () => string;
  resultUrlSeconds: number;
  /** Counts an attempt. */
  observe: (outcome: WebhookFailure | 'delivered', seconds: number) => void;
}
