// Creates the services from the settings, for the API process and for tests.
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import { createChatCalls } from '../db/chat/chat-ledger.ts';
import { openKeptAnswers } from '../db/idempotency/kept-answers.ts';
import { createLossBrake } from '../db/ledger/loss-brake.ts';
import { HashRenewals } from '../db/keys/hash-renewals.ts';
import { LastUses } from '../db/keys/last-uses.ts';
import { readPoolMetrics } from '../db/pool.ts';
import { Secrets } from '../db/secrets.ts';
import type { Log } from '../log.ts';
import { createChatUpstreams } from '../providers/chat/chat.ts';
import { createTaskStarts } from './tasks/task-starts.ts';
import { createStorage } from '../storage/storage.ts';
import { connectTaskWorkflows, type TaskWorkflows } from '../workflows/client.ts';
import { CutsAtStop } from './chat/call-cut.ts';
import { ConcurrentCalls } from './chat/concurrent-calls.ts';
import { KEPT_BUDGET } from './chat/delivered-events.ts';
import { COMMENT_EVERY_MS, READER_PAUSE_MS } from './chat/stream-cut.ts';
import { SettlementWriter } from './chat/settlement-writer.ts';
import { createLongAnswers } from './long-answers/long-answers.ts';
import { createUsualTimes } from './tasks/usual-times.ts';
import { openEvents } from './events/services.ts';
import {
  COUNTED_TURN_LIMITS,
  createDatabaseTurns,
  ENTRY_TURN_LIMITS,
  INLINE_TURN_LIMITS,
  LATE_WORK_TURN_LIMITS,
  LONG_ANSWER_TURN_LIMITS,
  LONG_WORK_TURN_LIMITS,
  RECEIVING_TURN_LIMITS,
} from './http/turn-limits.ts';
import { createTurns } from './http/turns.ts';
import { Subjects } from './http/subjects.ts';
import { BODY_BUDGET, createBodyBudget, type BodyBudgetLimits } from './http/body-budget.ts';
import { ApiKeyCache } from './key-cache.ts';
import { createGuessLimiter } from './limits/guess-limiter.ts';
import { createLimits, type Limits } from './limits/limits.ts';
import { createOverloadGuard, overloadLimits, watchLoad } from './http/overload.ts';
import { openBuiltConsole } from './web/built-console.ts';
import { createRequestMetrics } from './monitoring/request-metrics.ts';
import type { Database } from '../db/database.ts';
import type { Tracing } from '../runtime/tracing-types.ts';
import type { ChatServices, Services, UploadServices } from './services.ts';

/** Disk space that arriving uploads may take together, before the users' quotas are checked. */
const UPLOAD_DISK_BUDGET: Readonly<BodyBudgetLimits> = {
  bytesMax: 8 * 1024 ** 3,
  bytesPerCallerMax: 1024 ** 3,
};

/** How many tokens without a session are remembered, and for how long. */
const ENDED_SESSIONS_MAX = 10_000;
const ENDED_SESSION_MS = 5_000;

/**
 * Creates the services without connecting them. The caller closes the database that it opened, and stops
 * the other services.
 */
export function openServices(
  config: Config,
  database: Database,
  log: Log,
  {
    tracing = null,
    stopping = new AbortController().signal,
    draining = new AbortController().signal,
  }: { tracing?: Tracing | null; stopping?: AbortSignal; draining?: AbortSignal } = {},
): Services {
  const { requestsInFlightMax: inFlightMax } = config;
  const secrets = new Secrets(config.keyRing);
  const limits = openLimits(config, secrets, log);
  const taskWorkflows = connectTaskWorkflows({
    ...config.temporal,
    taskDeadlineSeconds: config.taskDeadlineSeconds,
    interceptor: tracing?.workflowClient,
  });
  return {
    database,
    secrets,
    taskWorkflows,
    ...openCreations(config, taskWorkflows, log),
    storage: createStorage(config.storage),
    catalog: config.catalog,
    keyCache: new ApiKeyCache(database, secrets),
    endedSessions: new LRUCache({ max: ENDED_SESSIONS_MAX, ttl: ENDED_SESSION_MS }),
    lastUses: new LastUses(database, log),
    hashRenewals: new HashRenewals(database, secrets, log),
    log,
    limits,
    guesses: createGuessLimiter(limits),
    trustedProxies: config.trustedProxies,
    publicUrl: () => config.publicUrl,
    console: openBuiltConsole(config.consoleDir),
    consoleDir: config.consoleDir,
    production: config.production,
    waitingTasksPerUserMax: config.waitingTasksPerUserMax,
    resultUrlSeconds: config.resultUrlSeconds,
    ...openChat(config, database, secrets, { log, stopping }),
    lossBrake: createLossBrake({ database, lossMax: config.lossBrake, log }),
    uploads: openUploads(config),
    usualTimes: createUsualTimes(database, [...config.catalog.models.keys()]),
    about: config.about,
    events: openEvents({ database, secrets, log }, draining),
    metrics: createRequestMetrics(),
    tracing,
    bodies: createBodyBudget(BODY_BUDGET),
    subjects: new Subjects(),
    ...openTurns(inFlightMax),
    overload: createOverloadGuard(
      overloadLimits({ inFlightMax, delayMs: config.overloadDelayMs }),
      watchLoad(() => readPoolMetrics(database).waiting),
    ),
    stopping,
  };
}

/**
 * Creates the limits. Redis is given keyed hashes: equal in all processes with the same key ring, and
 * meaningless without it.
 */
export function openLimits(config: Config, secrets: Secrets, log: Log): Limits {
  return createLimits({
    settings: config.limits,
    redisUrl: config.redisUrl,
    requiresRedis: config.requiresRedis,
    hashKey: (key) => secrets.hash('rate-limit', key).hash.toString('base64url'),
    log,
  });
}

function openUploads(config: Config): UploadServices {
  return {
    bytesMax: config.uploadBytesMax,
    quotaBytes: config.uploadQuotaBytes,
    diskBudget: createBodyBudget({
      bytesMax: Math.max(UPLOAD_DISK_BUDGET.bytesMax, config.uploadBytesMax),
      bytesPerCallerMax: Math.max(UPLOAD_DISK_BUDGET.bytesPerCallerMax, config.uploadBytesMax),
    }),
  };
}

function openCreations(
  config: Config,
  workflows: TaskWorkflows,
  log: Log,
): Pick<Services, 'creationTurns' | 'readTurns' | 'taskStarts'> {
  const turns = createDatabaseTurns(config.databaseConnectionsMax);
  const { creationTurns } = turns;
  return { ...turns, taskStarts: createTaskStarts({ workflows, creationTurns, log }) };
}

/** The turns that need no more than a process: those of the database are made with its creations. */
function openTurns(
  inFlightMax: number,
): Pick<
  Services,
  | 'entryTurns'
  | 'countedTurns'
  | 'receivingTurns'
  | 'longWorkTurns'
  | 'lateWorkTurns'
  | 'longAnswerTurns'
  | 'inlineTurns'
> {
  return {
    entryTurns: createTurns({ ...ENTRY_TURN_LIMITS, lineMax: inFlightMax, linesMax: inFlightMax }),
    countedTurns: createTurns({ ...COUNTED_TURN_LIMITS, lineMax: inFlightMax, linesMax: inFlightMax }),
    receivingTurns: createTurns(RECEIVING_TURN_LIMITS),
    longWorkTurns: createTurns(LONG_WORK_TURN_LIMITS),
    lateWorkTurns: createTurns(LATE_WORK_TURN_LIMITS),
    longAnswerTurns: createTurns(LONG_ANSWER_TURN_LIMITS),
    inlineTurns: createTurns(INLINE_TURN_LIMITS),
  };
}

function openChat(
  config: Config,
  database: Database,
  secrets: Secrets,
  { log, stopping }: { log: Log; stopping: AbortSignal },
): Pick<Services, 'chat' | 'keptAnswers'> {
  const { families, upstreamTimeoutMs, upstreamConnectionsMax, chatLeaseSeconds: leaseSeconds } = config;
  const calls = createChatCalls(database, leaseSeconds);
  const chat: ChatServices = {
    upstreams: createChatUpstreams({ families, upstreamTimeoutMs, upstreamConnectionsMax }),
    calls,
    settlementWriter: new SettlementWriter(calls, leaseSeconds, log),
    readLongAnswer: createLongAnswers(log),
    leaseSeconds,
    running: new ConcurrentCalls(config.chatConcurrentPerUserMax),
    keptStreams: createBodyBudget(KEPT_BUDGET),
    streamLimits: {
      commentEveryMs: COMMENT_EVERY_MS,
      secondsMax: config.streamSecondsMax,
      readerPauseMs: READER_PAUSE_MS,
    },
    cutsAtStop: new CutsAtStop(stopping),
  };
  return { chat, keptAnswers: openKeptAnswers(database, secrets, calls.keepAnswer) };
}
