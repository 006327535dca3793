// Opens the database: one MikroORM per process, one forked EntityManager per request or activity.
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, sql } from '@mikro-orm/postgresql';
import { AuditEntryEntity, LedgerViolationEntity } from './entities/audit.ts';
import { ChatCallEntity } from './entities/chat-calls.ts';
import { CredentialRestEntity } from './entities/credentials.ts';
import { IdempotencyKeyEntity } from './entities/idempotency.ts';
import {
  ApiKeyEntity,
  LoginFlowEntity,
  RecoveryCodeEntity,
  SessionEntity,
  UserEntity,
} from './entities/identity.ts';
import {
  AccountEntity,
  CreditedTransferEntity,
  KeySpendingEntity,
  LedgerTransferEntity,
  TaskAttemptEntity,
} from './entities/ledger.ts';
import { LedgerCheckpointEntity } from './entities/ledger-checkpoints.ts';
import { RedeemCodeEntity, RedemptionEntity } from './entities/redeem-codes.ts';
import { RemovedCallEntity, RetentionEntity, RetentionFloorEntity } from './entities/retention.ts';
import { SqlFunctionEntity } from './entities/sql-functions.ts';
import { SubmissionEntity, TaskEntity, TaskEventEntity, TaskRequestEntity } from './entities/tasks.ts';
import {
  UsageComparisonEntity,
  UsageMarkEntity,
  UsageRollupEntity,
  UsageSpanEntity,
  UsageWatermarkEntity,
} from './entities/usage.ts';
import { UploadEntity, UploadUseEntity } from './entities/uploads.ts';
import { WebhookDeliveryEntity, WebhookEndpointEntity, WebhookEventEntity } from './entities/webhooks.ts';
import { releaseBrokenConnections, type WatchedPool } from './broken-connections.ts';
import { installFunctions } from './functions.ts';
import { Migration001Identity } from './migrations/001-identity.ts';
import { Migration002Tasks } from './migrations/002-tasks.ts';
import { Migration003Ledger } from './migrations/003-ledger.ts';
import { Migration004Chat } from './migrations/004-chat.ts';
import { Migration005RedeemCodes } from './migrations/005-redeem-codes.ts';
import { Migration006Uploads } from './migrations/006-uploads.ts';
import { Migration007Idempotency } from './migrations/007-idempotency.ts';
import { Migration020TaskChanges } from './migrations/020-task-changes.ts';
import { Migration021ListIndexes } from './migrations/021-list-indexes.ts';
import { Migration030SecurityEvents } from './migrations/030-security-events.ts';
import { Migration031UserSearch } from './migrations/031-user-search.ts';
import { Migration040LedgerCheckpoints } from './migrations/040-ledger-checkpoints.ts';
import { Migration050UsageIndexes } from './migrations/050-usage-indexes.ts';
import { Migration060LossIndexes } from './migrations/060-loss-indexes.ts';
import { Migration070UsageRollup } from './migrations/070-usage-rollup.ts';
import { Migration071Retention } from './migrations/071-retention.ts';
import { Migration080DeletedVideos } from './migrations/080-deleted-videos.ts';
import { Migration085Webhooks } from './migrations/085-webhooks.ts';
import { Migration090UsageDays } from './migrations/090-usage-days.ts';
import { Migration091ListFilters } from './migrations/091-list-filters.ts';
import { Migration092RetentionFloors } from './migrations/092-retention-floors.ts';
import { Migration095WebhookOutbox } from './migrations/095-webhook-outbox.ts';
import { Migration100TaskRequests } from './migrations/100-task-requests.ts';
import { Migration101UsageSpans } from './migrations/101-usage-spans.ts';
import { Migration102CallFilters } from './migrations/102-call-filters.ts';
import { Migration103UsageSixHours } from './migrations/103-usage-six-hours.ts';
import { Migration104FailureIndexes } from './migrations/104-failure-indexes.ts';
import { Migration106TimeRanges } from './migrations/106-time-ranges.ts';
import { Migration107ValidSpans } from './migrations/107-valid-spans.ts';
import { Migration108UsageAdditions } from './migrations/108-usage-additions.ts';
import { Migration109WaitingSubmissions } from './migrations/109-waiting-submissions.ts';
import { Migration110SubmissionTries } from './migrations/110-submission-tries.ts';
import { Migration111LateSpans } from './migrations/111-late-spans.ts';
import { Migration112UnspannedSums } from './migrations/112-unspanned-sums.ts';
import { Migration113CreditReasons } from './migrations/113-credit-reasons.ts';
import { grantProcessRights } from './process-role.ts';
import { openConnections, registerPool, type DriverPool } from './pool.ts';
import { forkEm, type Database } from './database.ts';

export interface DatabaseSettings {
  url: string;
  connectionsMax: number;
  /** How long to wait for a free or a new connection; 2 s when left out. */
  connectionWaitMs?: number;
  /** How long a statement may take; 5 s when left out. */
  statementLimitMs?: number;
  /** For a server: connections are opened at once and kept. Otherwise 10 idle seconds close them. */
  keepsConnections?: boolean;
}

/** The migrations, in the order in which they are applied. */
export const MIGRATIONS = [
  { name: '001-identity', class: Migration001Identity },
  { name: '002-tasks', class: Migration002Tasks },
  { name: '003-ledger', class: Migration003Ledger },
  { name: '004-chat', class: Migration004Chat },
  { name: '005-redeem-codes', class: Migration005RedeemCodes },
  { name: '006-uploads', class: Migration006Uploads },
  { name: '007-idempotency', class: Migration007Idempotency },
  { name: '020-task-changes', class: Migration020TaskChanges },
  { name: '021-list-indexes', class: Migration021ListIndexes },
  { name: '030-security-events', class: Migration030SecurityEvents },
  { name: '031-user-search', class: Migration031UserSearch },
  { name: '040-ledger-checkpoints', class: Migration040LedgerCheckpoints },
  { name: '050-usage-indexes', class: Migration050UsageIndexes },
  { name: '060-loss-indexes', class: Migration060LossIndexes },
  { name: '070-usage-rollup', class: Migration070UsageRollup },
  { name: '071-retention', class: Migration071Retention },
  { name: '080-deleted-videos', class: Migration080DeletedVideos },
  { name: '085-webhooks', class: Migration085Webhooks },
  { name: '090-usage-days', class: Migration090UsageDays },
  { name: '091-list-filters', class: Migration091ListFilters },
  { name: '092-retention-floors', class: Migration092RetentionFloors },
  { name: '095-webhook-outbox', class: Migration095WebhookOutbox },
  { name: '100-task-requests', class: Migration100TaskRequests },
  { name: '101-usage-spans', class: Migration101UsageSpans },
  { name: '102-call-filters', class: Migration102CallFilters },
  { name: '103-usage-six-hours', class: Migration103UsageSixHours },
  { name: '104-failure-indexes', class: Migration104FailureIndexes },
  { name: '106-time-ranges', class: Migration106TimeRanges },
  { name: '107-valid-spans', class: Migration107ValidSpans },
  { name: '108-usage-additions', class: Migration108UsageAdditions },
  { name: '109-waiting-submissions', class: Migration109WaitingSubmissions },
  { name: '110-submission-tries', class: Migration110SubmissionTries },
  { name: '111-late-spans', class: Migration111LateSpans },
  { name: '112-unspanned-sums', class: Migration112UnspannedSums },
  { name: '113-credit-reasons', class: Migration113CreditReasons },
];

const ENTITIES = [
  UserEntity,
  ApiKeyEntity,
  SessionEntity,
  LoginFlowEntity,
  RecoveryCodeEntity,
  TaskEntity,
  TaskRequestEntity,
  TaskEventEntity,
  SubmissionEntity,
  AccountEntity,
  KeySpendingEntity,
  TaskAttemptEntity,
  LedgerTransferEntity,
  CreditedTransferEntity,
  RedeemCodeEntity,
  RedemptionEntity,
  AuditEntryEntity,
  CredentialRestEntity,
  ChatCallEntity,
  IdempotencyKeyEntity,
  LedgerViolationEntity,
  LedgerCheckpointEntity,
  UploadEntity,
  UploadUseEntity,
  SqlFunctionEntity,
  RetentionEntity,
  RetentionFloorEntity,
  RemovedCallEntity,
  UsageRollupEntity,
  UsageSpanEntity,
  UsageComparisonEntity,
  UsageMarkEntity,
  UsageWatermarkEntity,
  WebhookEndpointEntity,
  WebhookEventEntity,
  WebhookDeliveryEntity,
];

const CONNECTION_WAIT_MS = 2_000;
const STATEMENT_LIMIT_MS = 5_000;
/** Our side waits a little longer than the server works. */
const ANSWER_MARGIN_MS = 1_000;
/** Serialises migrations. */
const MIGRATION_LOCK = 7_262_114;

/**
 * Connects lazily, unless connections are kept. Every statement is bounded: on the server by time-outs of
 * the session, on our side by `query_timeout`, because a server-side time-out does not help against a network
 * that swallows packets.
 */
export function openDatabase(settings: DatabaseSettings): Database {
  const { connectionsMax, connectionWaitMs = CONNECTION_WAIT_MS, keepsConnections = false } = settings;
  const { statementLimitMs = STATEMENT_LIMIT_MS } = settings;
  const pooled: { max: number; pool: DriverPool | undefined } = { max: connectionsMax, pool: undefined };
  const database = new MikroORM({
    clientUrl: settings.url,
    entities: ENTITIES,
    pool: { min: keepsConnections ? connectionsMax : 0, max: connectionsMax },
    driverOptions: {
      connectionTimeoutMillis: connectionWaitMs,
      keepAlive: true, // a network may drop what is idle without a word
      query_timeout: statementLimitMs + ANSWER_MARGIN_MS,
      options: `-c lock_timeout=2000 -c statement_timeout=${statementLimitMs} -c idle_in_transaction_session_timeout=10000 -c timezone=UTC`,
      onPoolCreated: (pool: DriverPool & WatchedPool) => {
        pooled.pool = pool;
        releaseBrokenConnections(pool);
      },
    },
    extensions: [Migrator],
    migrations: {
      migrationsList: MIGRATIONS,
      snapshot: false,
      silent: true,
      disableForeignKeys: false,
      // Each in a transaction of its own, so that none keeps its locks while the next one works.
      allOrNothing: false,
    },
    ignoreUndefinedInQuery: true,
  });
  registerPool(database, pooled);
  if (keepsConnections) void openConnections(database);
  return database;
}

/**
 * Applies missing migrations and installs changed functions; answers the names of both. Then it gives
 * `processRole` the rights of a process; null where processes run as the owner of the tables, who is the
 * user of `database`. Of parallel calls, one works and the others wait for it. Takes two connections.
 */
export async function migrate(database: Database, processRole: string | null = null): Promise<string[]> {
  return forkEm(database).transactional(async (lock) => {
    await lock.execute('set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    await lock.execute(sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const done = await database.migrator.up();
    const installed = await installFunctions(database);
    if (processRole !== null) await grantProcessRights(database, processRole);
    return [...done.map((migration) => migration.name), ...installed];
  });
}
