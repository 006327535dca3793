// Types of the HTTP framework: the context that a handler is given, the reply it returns, the rows of the
// route table.
import type { Response } from 'express';
import type { KeyHolder } from '../db/keys/find-key.ts';
import type { FoundSession } from '../db/identity/sessions.ts';
import type { Permission } from '../domain/permissions.ts';
import type { FileToSend } from './http/send-file.ts';
import type { RouteLimit } from './limits/buckets.ts';
import type { IdempotencyContext } from './idempotent-effects.ts';
import type { LimitBackend } from './limits/headers.ts';
import type { EndTurn } from './http/turns.ts';
import type { ReceivedFile } from './uploads/receive.ts';
import type { Em } from '../db/database.ts';
import { type Services } from './services.ts';

/** Facts that a handler adds to the request's log line and trace. */
export interface RequestTrace {
  taskId: string | null;
  /** What a chat call was, once it is settled; null for every other request. */
  chat: TracedChat | null;
}

export interface TracedChat {
  model: string;
  /** Family of the upstream that was asked last; null when none was. */
  family: string | null;
  promptTokens: number;
  completionTokens: number;
}

/** The user that a request is from, and the proof of it. */
export type Caller =
  | ({ proof: 'key' } & KeyHolder)
  | ({ proof: 'session' } & FoundSession)
  | { proof: 'none' };

export type KeyCaller = Extract<Caller, { proof: 'key' }>;
export type SessionCaller = Extract<Caller, { proof: 'session' }>;

/** A request, authenticated and parsed as far as every route needs it. */
export interface RequestContext<Who extends Caller = Caller> {
  services: Services;
  em: Em;
  caller: Who;
  requestId: string;
  trace: RequestTrace;
  /** The backend that counted this request; reported again when a handler throws a 429 of its own. */
  limitBackend: LimitBackend;
  /** The caller's address behind trusted proxies, for audit entries and limits. */
  ip: string;
  userAgent: string | null;
  /** The token of the session cookie, unverified; only a login uses it. */
  sessionToken: string | null;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /**
   * Ends the turn of a creation or a long read, once nothing is left that others of the user must wait for;
   * does nothing on other routes.
   */
  endTurn: EndTurn;
  /** Reads a request header by its lower-case name; null without it. */
  header(name: string): string | null;
  /** Returns a signal that is aborted when the caller disconnects before the answer is complete. */
  disconnected(): AbortSignal;
  /** Whether the caller has disconnected before the answer was complete. */
  hasLeft(): boolean;
  /** Calls `end` when the answer has left this process, or its caller has. */
  afterAnswer(end: () => void): void;
  /**
   * State of the Idempotency-Key; null without one. Handlers use it through `api/idempotent-effects.ts`
   * only.
   */
  idempotency: IdempotencyContext | null;
  /**
   * The file of an upload, already in storage, and removed again unless the handler keeps it; null on other
   * routes.
   */
  file: ReceivedFile | null;
  /** The parsed JSON body; an empty object where a route has none. */
  body: { [field: string]: unknown };
  /** Runs what takes time in proportion to the body, if that is long in a turn of its user. */
  workOnBody<Result>(work: () => Result | Promise<Result>): Result | Promise<Result>;
  /** Gives up the body and its share of memory, for answers that wait. */
  dropBody(): void;
  /** The same request as one with other parameters in its path. */
  withParams(params: Readonly<Record<string, string>>): RequestContext<Who>;
}

/**
 * The answer of a handler. Without `body` the answer has none; a text is sent as it is, any other value as
 * JSON.
 */
export interface Reply {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Writes the body instead, after status and headers, up to its end. Null if the stream broke off. */
  stream?: (res: Response) => Promise<StreamedBody | null>;
  /** Sends a stored file instead, whole or the range that is asked for. */
  file?: FileToSend;
}

export interface StreamedBody {
  /** What was written; empty where it is not kept for repeats, null where that is too much. */
  written: string | null;
  /** What is still to be written, once the whole is kept. */
  end: string;
  /** Gives back the room of `written`, once that is kept or given up; without a key it has none. */
  release: () => void;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A row of the route table. `proof` decides which type of handler fits. */
export type Route = {
  method: Method;
  path: string;
  /**
   * Whether the route honours `Idempotency-Key`: it costs or adds credits, or stores a file. `by-claim`: its
   * effect is one statement, which also claims the key; a repeat shows there, and is not looked for before.
   */
  idempotent?: true | 'by-claim';
  /** Size limit of the JSON body; absent when the route takes no body. */
  bodyBytesMax?: number;
  /** Size limit of a compressed JSON body, unpacked; `INFLATED_BYTES_MAX` where it is absent. */
  inflatedBytesMax?: number;
  /** Whether the body may also be a multipart form, whose pictures become data URIs. */
  form?: true;
  /** Whether the body is a form with one file, which is received before the handler is called. */
  upload?: true;
  /** Whether the answer is a stream that ends only with the session or the process. */
  endless?: true;
  /**
   * Whether the answer may take the database long, as lists and summaries do: such reads of a user take
   * turns.
   */
  heavy?: true;
  /** Whether `Prefer: wait` holds the answer until its task has ended. */
  waits?: true;
} & RouteLimit &
  (
    | {
        proof: 'key';
        handle: (ctx: RequestContext<KeyCaller>) => Promise<Reply>;
        /**
         * On routes that wait for a task they create: answers the completed task, whose id is the
         * parameter.
         */
        readCreated?: (ctx: RequestContext<KeyCaller>) => Promise<Reply>;
      }
    | {
        proof: 'session';
        /** Permission that the caller needs; others get 403 permission_denied. */
        permission?: Permission;
        /**
         * Whether the caller must have completed /api/verify in this session; others get 403
         * verification_required.
         */
        stepUp?: true;
        handle: (ctx: RequestContext<SessionCaller>) => Promise<Reply>;
        readCreated?: (ctx: RequestContext<SessionCaller>) => Promise<Reply>;
      }
    | { proof: 'none'; handle: (ctx: RequestContext) => Promise<Reply> }
  );

/** The limit of an ordinary JSON body. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** The limit of a JSON body that may hold images as data URIs. */
export const CREATION_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** The limit of a compressed JSON body, unpacked, except where images are ordered. */
export const INFLATED_BYTES_MAX = 4 * 1024 * 1024;
