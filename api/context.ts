// What every handler is given: the parts of the gateway, and one call with its caller.
import type { Response } from 'express';
import type { ApiKey, Session, User } from '../db/entities/identity.ts';
import type { Permission } from '../domain/permissions.ts';
import type { RouteLimit } from './limits/buckets.ts';
import type { IdempotencyContext } from './idempotent-effects.ts';
import type { LimitBackend } from './limits/headers.ts';
import type { ReceivedFile } from './uploads/receive.ts';
import type { Em } from '../db/database.ts';
import { type Services } from './services.ts';

/** What a handler found out about its request, for the log and the trace. */
export interface RequestTrace {
  taskId: string | null;
}

/** Who a request is from, and how that was proved. */
export type Caller =
  | { proof: 'key'; user: User; key: ApiKey }
  | { proof: 'session'; user: User; session: Session }
  | { proof: 'none' };

export type KeyCaller = Extract<Caller, { proof: 'key' }>;
export type SessionCaller = Extract<Caller, { proof: 'session' }>;

/** One request, parsed as far as every route needs it. */
export interface RequestContext<Who extends Caller = Caller> {
  services: Services;
  em: Em;
  caller: Who;
  requestId: string;
  trace: RequestTrace;
  /** What counted this request: a 429 for another reason says the same. */
  limitBackend: LimitBackend;
  /** For audit entries and limits; the address of the peer as far as it can be trusted. */
  ip: string;
  userAgent: string | null;
  /** The token of the session cookie, unchecked; only a login looks at it. */
  sessionToken: string | null;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Aborted when the caller has gone before the answer was complete. */
  disconnected: () => AbortSignal;
  /** What makes the effect happen once; null without an Idempotency-Key. Use it through `api/idempotent-effects.ts`. */
  idempotency: IdempotencyContext | null;
  /** What an upload brought: in storage, and removed again unless the handler keeps it. Null on other routes. */
  file: ReceivedFile | null;
  /** The parsed JSON body; an empty object where a route has none. */
  body: { [field: string]: unknown };
}

/** What a handler answers. `body` undefined means: no body; a text is sent as it is. */
export interface Reply {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Writes the body instead, after status and headers, as long as it takes. Answers all of it, or null if it broke off. */
  stream?: (res: Response) => Promise<string | null>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A row of the route table. The proof decides which handler fits. */
export type Route = {
  method: Method;
  path: string;
  /** It costs or adds credits, or stores a file: `Idempotency-Key` makes it happen once. */
  idempotent?: true;
  /** Of a JSON body. Absent: the route takes none. */
  bodyBytesMax?: number;
  /** The body is a form with one file, which is received before the handler is called. */
  upload?: true;
} & RouteLimit &
  (
    | { proof: 'key'; handle: (ctx: RequestContext<KeyCaller>) => Promise<Reply> }
    | {
        proof: 'session';
        /** The caller must have it: 403 permission_denied. */
        permission?: Permission;
        /** The caller must have completed /api/verify within this session: 403 verification_required. */
        stepUp?: true;
        handle: (ctx: RequestContext<SessionCaller>) => Promise<Reply>;
      }
    | { proof: 'none'; handle: (ctx: RequestContext) => Promise<Reply> }
  );

/** Usual for `admissionWaitMs`: far beyond what a verdict takes, and still an answer in time when the engine is away. */
export const ADMISSION_WAIT_MS = 1_500;
/** Bytes of an ordinary JSON body. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Bytes of a body that may hold images as data URIs. */
export const CREATION_BODY_BYTES_MAX = 32 * 1024 * 1024;
