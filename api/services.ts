// The dependencies of every request handler, made once per process.
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { ChatCalls } from '../db/chat/chat-ledger.ts';
import type { LastUses } from '../db/keys/last-uses.ts';
import type { Secrets } from '../db/secrets.ts';
import type { ChatUpstreams } from '../providers/chat/chat.ts';
import type { SettlementWriter } from './chat/settlement-writer.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { TaskWorkflows } from '../workflows/client.ts';
import type { KnownKeys } from './known-keys.ts';
import type { GuessLimiter } from './limits/guess-limiter.ts';
import type { OverloadGuard } from './http/overload.ts';
import type { BodyBudget } from './http/body-budget.ts';
import type { RequestMetrics } from './monitoring/request-metrics.ts';
import type { Limits } from './limits/limits.ts';
import type { Database } from '../db/database.ts';
import type { Tracing } from '../runtime/tracing-types.ts';

export interface Services {
  database: Database;
  secrets: Secrets;
  taskWorkflows: TaskWorkflows;
  storage: Storage;
  catalog: Catalog;
  knownKeys: KnownKeys;
  /** Of API keys. */
  lastUses: LastUses;
  log: Log;
  /** How many requests, of whom. */
  limits: Limits;
  /** Stands before everything that could be guessed. */
  guesses: GuessLimiter;
  /** Whose X-Forwarded-For is believed: so many proxies before us, or these addresses and networks. */
  trustedProxies: number | string[];
  /** The address of this service as callers know it, without a trailing slash. */
  publicUrl: () => string;
  /** Cookies carry `Secure` in production. */
  production: boolean;
  /** How long a creation waits for the workflow's verdict before it answers "queued". */
  admissionWaitMs: number;
  waitingTasksPerUserMax: number;
  resultUrlSeconds: number;
  chat: ChatServices;
  uploads: UploadServices;
  metrics: RequestMetrics;
  /** Null where it is off. */
  tracing: Tracing | null;
  /** Says whether there is room for another request. */
  overload: OverloadGuard;
  /** And for another large body. */
  bodies: BodyBudget;
  /** Aborted when this process can no longer wait for answers that take long: streams are to come to their end. */
  stopping: AbortSignal;
}

/** What chat calls need beside the rest. */
export interface ChatServices {
  upstreams: ChatUpstreams;
  calls: ChatCalls;
  settlementWriter: SettlementWriter;
  leaseSeconds: number;
  /** Of silence in a stream, before a comment says that the call lives. */
  commentEveryMs: number;
}

/** What uploads need beside the rest. */
export interface UploadServices {
  /** Of one file. */
  bytesMax: number;
  /** Of all files of a user. */
  quotaBytes: number;
  /** For files that are under way. */
  room: BodyBudget;
}
