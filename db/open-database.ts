// Opens the database: one MikroORM per process, one forked EntityManager per request or activity.
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
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
  LedgerEntryEntity,
  LedgerTransactionEntity,
  ReservationEntity,
} from './entities/ledger.ts';
import { RedeemCodeEntity, RedemptionEntity } from './entities/redeem-codes.ts';
import { SubmissionEntity, TaskEntity, TaskEventEntity, TaskRequestEntity } from './entities/tasks.ts';
import { UploadEntity, UploadUseEntity } from './entities/uploads.ts';
import { Migration001Initial } from './migrations/001-initial.ts';
import { Migration002Identity } from './migrations/002-identity.ts';
import { Migration003Idempotency } from './migrations/003-idempotency.ts';
import { Migration004Credentials } from './migrations/004-credentials.ts';
import { Migration005Chat } from './migrations/005-chat.ts';
import { Migration006Uploads } from './migrations/006-uploads.ts';
import { Migration009Operation } from './migrations/009-operation.ts';
import { Migration010OneJobEach } from './migrations/010-one-job-each.ts';
import { Migration011Earmarks } from './migrations/011-earmarks.ts';
import { Migration020TaskChanges } from './migrations/020-task-changes.ts';
import { Migration030SecurityEvents } from './migrations/030-security-events.ts';
import { Migration031UserSearch } from './migrations/031-user-search.ts';
import { registerPool, type PoolLike } from './pool.ts';
import type { Database } from './database.ts';

export interface DatabaseSettings {
  url: string;
  connectionsMax: number;
  /** How long to wait for a free or a new connection; 2 s when left out. */
  connectionWaitMs?: number;
}

/** The migrations, in the order in which they are applied. Numbers 007 and 008 were not used. */
export const MIGRATIONS = [
  { name: '001-initial', class: Migration001Initial },
  { name: '002-identity', class: Migration002Identity },
  { name: '003-idempotency', class: Migration003Idempotency },
  { name: '004-credentials', class: Migration004Credentials },
  { name: '005-chat', class: Migration005Chat },
  { name: '006-uploads', class: Migration006Uploads },
  { name: '009-operation', class: Migration009Operation },
  { name: '010-one-job-each', class: Migration010OneJobEach },
  { name: '011-earmarks', class: Migration011Earmarks },
  { name: '020-task-changes', class: Migration020TaskChanges },
  { name: '030-security-events', class: Migration030SecurityEvents },
  { name: '031-user-search', class: Migration031UserSearch },
];

const CONNECTION_WAIT_MS = 2_000;

/**
 * Connects lazily. Every statement is bounded: on the server by time-outs of the session, on our side by
 * `query_timeout`, because a server-side time-out does not help against a network that swallows packets.
 */
export function openDatabase(settings: DatabaseSettings): Database {
  const { connectionWaitMs = CONNECTION_WAIT_MS } = settings;
  const pooled: { max: number; pool: PoolLike | undefined } = {
    max: settings.connectionsMax,
    pool: undefined,
  };
  const database = new MikroORM({
    clientUrl: settings.url,
    entities: [
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
      ReservationEntity,
      LedgerTransactionEntity,
      LedgerEntryEntity,
      RedeemCodeEntity,
      RedemptionEntity,
      AuditEntryEntity,
      CredentialRestEntity,
      ChatCallEntity,
      IdempotencyKeyEntity,
      LedgerViolationEntity,
      UploadEntity,
      UploadUseEntity,
    ],
    pool: { min: 0, max: settings.connectionsMax },
    driverOptions: {
      connectionTimeoutMillis: connectionWaitMs,
      query_timeout: 6_000,
      options:
        '-c lock_timeout=2000 -c statement_timeout=5000 -c idle_in_transaction_session_timeout=10000 -c timezone=UTC',
      onPoolCreated: (pool: PoolLike) => {
        pooled.pool = pool;
      },
    },
    extensions: [Migrator],
    migrations: {
      migrationsList: MIGRATIONS,
      snapshot: false,
      silent: true,
      disableForeignKeys: false,
    },
    ignoreUndefinedInQuery: true,
  });
  registerPool(database, pooled);
  return database;
}

/** Applies missing migrations and answers their names. The migrator locks, so parallel calls are safe. */
export async function migrate(database: Database): Promise<string[]> {
  const done = await database.migrator.up();
  return done.map((migration) => migration.name);
}
