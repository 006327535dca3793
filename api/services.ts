// The dependencies of every request handler, created once per process.
import type { LRUCache } from 'lru-cache';
import type { TaskStarts } from './tasks/task-starts.ts';
import type { Subjects } from './http/subjects.ts';
import type { Turns } from './http/turns.ts';
import type { UsualTimes } from './tasks/usual-times.ts';
import type { EventServices } from './events/services.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { ChatCalls } from '../db/chat/chat-ledger.ts';
import type { KeptAnswers } from '../db/idempotency/kept-answers.ts';
import type { LossBrake } from '../db/ledger/loss-brake.ts';
import type { HashRenewals } from '../db/keys/hash-renewals.ts';
import type { LastUses } from '../db/keys/last-uses.ts';
import type { Secrets } from '../db/secrets.ts';
import type { ChatUpstreams } from '../providers/chat/chat.ts';
import type { ReadLongAnswer } from './chat/whole-reading.ts';
import type { CutsAtStop } from './chat/call-cut.ts';
import type { ConcurrentCalls } from './chat/concurrent-calls.ts';
import type { StreamLimits } from './chat/stream-cut.ts';
import type { SettlementWriter } from './chat/settlement-writer.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { TaskWorkflows } from '../workflows/client.ts';
import type { ApiKeyCache } from './key-cache.ts';
import type { GuessLimiter } from './limits/guess-limiter.ts';
import type { BuiltConsole } from './web/built-console.ts';
import type { OverloadGuard } from './http/overload.ts';
import type { BodyBudget } from './http/body-budget.ts';
import type { RequestMetrics } from './monitoring/request-metrics.ts';
import type { Limits } from './limits/limits.ts';
import type { AboutView } from './shapes/about.ts';
import type { Database } from '../db/database.ts';
import type { Tracing } from '../runtime/tracing-types.ts';

export interface Services {
  database: Database;
  secrets: Secrets;
  taskWorkflows: TaskWorkflows;
  storage: Storage;
  catalog: Catalog;
  keyCache: ApiKeyCache;
  /** Hashes of the tokens of the last seconds that no session has. */
  endedSessions: LRUCache<string, true>;
  /** Collects when each API key was last used, and writes it periodically. */
  lastUses: LastUses;
  /** Renews hashes of used API keys that were made with an older key of the ring. */
  hashRenewals: HashRenewals;
  log: Log;
  /** Limits requests per bucket and caller. */
  limits: Limits;
  /** Limits wrong answers where a secret can be guessed. */
  guesses: GuessLimiter;
  /**
   * Proxies whose X-Forwarded-For is trusted: their number before this process, or their addresses and
   * networks.
   */
  trustedProxies: number | string[];
  /** Returns the address of this service as callers know it, without a trailing slash. */
  publicUrl: () => string;
  /** The built console, and the folder it is read from. */
  console: BuiltConsole;
  consoleDir: string;
  /** Whether the process runs in production, where cookies carry `Secure`. */
  production: boolean;
  /** What became of requests with idempotency keys. */
  keptAnswers: KeptAnswers;
  /** Starts the workflows of created and retried tasks. */
  taskStarts: TaskStarts;
  /** Gives requests their turns to be authenticated, a few at once for each user. */
  entryTurns: Turns;
  /** Lets requests go on that Redis has counted, some in each round of the event loop. */
  countedTurns: Turns;
  /** Gives long bodies their turns to be received, some at once for each user. */
  receivingTurns: Turns;
  /** Gives the work of long bodies its turns, one at a time. */
  longWorkTurns: Turns;
  /** Gives the work whose turn did not come in time one of its own. */
  lateWorkTurns: Turns;
  /** Gives long chat answers that are not streamed their turns: they stay in memory until they are taken. */
  longAnswerTurns: Turns;
  /** Gives answers with images as base64 their turns: they stay in memory until they are taken. */
  inlineTurns: Turns;
  /** Gives creations and retries their turns, a few at once for each user. */
  creationTurns: Turns;
  /** Gives long reads their turns: no user's take more than a share of the database connections. */
  readTurns: Turns;
  waitingTasksPerUserMax: number;
  resultUrlSeconds: number;
  chat: ChatServices;
  lossBrake: LossBrake;
  uploads: UploadServices;
  events: EventServices;
  usualTimes: UsualTimes;
  /** What a page may know without a login. */
  about: Omit<AboutView, 'publicUrl'>;
  metrics: RequestMetrics;
  /** Tracing; null when it is switched off. */
  tracing: Tracing | null;
  /** Tells whose a request is before it is authenticated. */
  subjects: Subjects;
  /** Admits requests, or names the resource that is short. */
  overload: OverloadGuard;
  /** The budget of memory that large JSON bodies may take together while they are parsed. */
  bodies: BodyBudget;
  /** Aborted when the process stops and can wait no longer: streams have to end. */
  stopping: AbortSignal;
}

/** Dependencies of the chat route alone. */
export interface ChatServices {
  upstreams: ChatUpstreams;
  calls: ChatCalls;
  settlementWriter: SettlementWriter;
  readLongAnswer: ReadLongAnswer;
  leaseSeconds: number;
  /** The calls under way in this process. */
  running: ConcurrentCalls;
  /** The budget of what streams with an `Idempotency-Key` hold for repeats, until it is written. */
  keptStreams: BodyBudget;
  /** Also limits how long a whole answer is awaited. */
  streamLimits: StreamLimits;
  /** The answers that are cut when the process stops. */
  cutsAtStop: CutsAtStop;
}

/** Dependencies of the upload routes alone. */
export interface UploadServices {
  /** The size limit of one file. */
  bytesMax: number;
  /** Quota of a user: bytes that all uploads may take in storage together. */
  quotaBytes: number;
  /** The budget of disk space that arriving files may take together. */
  diskBudget: BodyBudget;
}
