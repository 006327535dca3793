// What every handler is given: the parts of the gateway, and one call with its caller.
import type { Catalog } from '../domain/catalog.ts';
import type { ApiKey, Session, User } from '../db/entities/identity.ts';
import type { LastUses } from '../db/last-uses.ts';
import type { Database, Em } from '../db/orm.ts';
import type { Secrets } from '../db/secrets.ts';
import type { Permission } from '../domain/permissions.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { Engine } from '../workflows/client.ts';
import type { GuessLimiter } from './limits/guess-limiter.ts';

export interface Gateway {
  database: Database;
  secrets: Secrets;
  engine: Engine;
  storage: Storage;
  catalog: Catalog;
  /** Of API keys. */
  lastUses: LastUses;
  log: Log;
  /** Stands before everything that could be guessed. */
  guesses: GuessLimiter;
  /** The address of this service as callers know it, without a trailing slash. */
  publicUrl: () => string;
  /** Cookies carry `Secure` in production. */
  production: boolean;
  /** How long a creation waits for the workflow's verdict before it answers "queued". */
  admissionWaitMs: number;
  waitingTasksPerUserMax: number;
  resultUrlSeconds: number;
}

/** Who a request is from, and how that was proved. */
export type Caller =
  | { proof: 'key'; user: User; key: ApiKey }
  | { proof: 'session'; user: User; session: Session }
  | { proof: 'none' };

export type KeyCaller = Extract<Caller, { proof: 'key' }>;
export type SessionCaller = Extract<Caller, { proof: 'session' }>;

/** One request, parsed as far as every route needs it. */
export interface Call<Who extends Caller = Caller> {
  gateway: Gateway;
  em: Em;
  caller: Who;
  requestId: string;
  /** For audit entries and limits; the address of the peer as far as it can be trusted. */
  ip: string;
  userAgent: string | null;
  /** The token of the session cookie, unchecked; only a login looks at it. */
  sessionToken: string | null;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The parsed JSON body; an empty object where a route has none. */
  body: { [field: string]: unknown };
}

/** What a handler answers. `body` undefined means: no body. */
export interface Reply {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** The buckets of the contract: `auth` is for whoever logs in, verifies or redeems. */
export type LimitName = 'chat' | 'create' | 'read' | 'upload' | 'auth';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A row of the route table. The proof decides which handler fits. */
export type Route = {
  method: Method;
  path: string;
  /** The bucket in which its requests count. */
  limit: LimitName;
  /** It costs or adds credits, or stores a file: `Idempotency-Key` makes it happen once. */
  idempotent?: true;
  /** Absent: the route takes no body. */
  bodyBytesMax?: number;
} & (
  | { proof: 'key'; handle: (call: Call<KeyCaller>) => Promise<Reply> }
  | {
      proof: 'session';
      /** The caller must have it: 403 permission_denied. */
      permission?: Permission;
      /** The caller must have completed /api/verify within this session: 403 verification_required. */
      stepUp?: true;
      handle: (call: Call<SessionCaller>) => Promise<Reply>;
    }
  | { proof: 'none'; handle: (call: Call) => Promise<Reply> }
);

/** Usual for `admissionWaitMs`: far beyond what a verdict takes, and still an answer in time when the engine is away. */
export const ADMISSION_WAIT_MS = 1_500;
/** Bytes of an ordinary JSON body. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Bytes of a body that may hold images as data URIs. */
export const CREATION_BODY_BYTES_MAX = 32 * 1024 * 1024;
