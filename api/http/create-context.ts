// Creates the context that a handler is given, from Express's request and from what the middleware set.
import type { Request, Response } from 'express';
import { forkEm, type Em } from '../../db/database.ts';
import type { Caller, RequestContext, RequestTrace, Route } from '../context.ts';
import type { LimitBackend } from '../limits/headers.ts';
import type { IdempotencyContext } from '../idempotent-effects.ts';
import { readIdempotencyKey } from '../middleware/idempotency-key.ts';
import type { Services } from '../services.ts';
import type { ReceivedFile } from '../uploads/receive.ts';
import { hasLeft, whenClosed } from './at-close.ts';
import { localsOf, requireLocal } from './locals.ts';
import { LONG_BODY_BYTES, workInTurn } from './long-work.ts';
import { readSessionToken } from './session-cookie.ts';
import type { EndTurn } from './turns.ts';
import { readUserAgent } from './user-agent.ts';

const noTurn = (): void => undefined;

/** Throws 400 for an Idempotency-Key that is malformed. */
export function createContext(services: Services, route: Route, req: Request, res: Response): RequestContext {
  const parsed: ParsedRequest = {
    caller: requireLocal(res, 'caller'),
    params: readParams(req),
    query: readQueryString(req.url),
    file: localsOf(res).file ?? null,
    body: req.body ?? {},
  };
  const idempotency = readIdempotencyKey(route, req.headers['idempotency-key']?.toString(), parsed);
  return new Context(services, { req, res }, { ...parsed, idempotency });
}

type ParsedRequest = Pick<RequestContext, 'caller' | 'params' | 'query' | 'file' | 'body'>;

interface Messages {
  req: Request;
  res: Response;
}

/**
 * What most handlers do not ask for is made when they do: an EntityManager, and the address behind trusted
 * proxies. A class, because V8 gives each object with getters of its own a hidden class of its own, among the
 * old objects: through it every request stayed in memory until the whole heap was collected.
 */
class Context implements RequestContext {
  readonly services: Services;
  readonly caller: Caller;
  readonly requestId: string;
  readonly trace: RequestTrace;
  readonly limitBackend: LimitBackend;
  readonly userAgent: string | null;
  readonly sessionToken: string | null;
  readonly params: RequestContext['params'];
  readonly query: URLSearchParams;
  readonly endTurn: EndTurn;
  readonly idempotency: IdempotencyContext | null;
  readonly file: ReceivedFile | null;
  body: RequestContext['body'];
  readonly #messages: Messages;
  #em: Em | undefined;
  #disconnected: AbortSignal | undefined;

  constructor(
    services: Services,
    messages: Messages,
    parsed: ParsedRequest & Pick<RequestContext, 'idempotency'>,
  ) {
    const { req, res } = messages;
    this.services = services;
    this.caller = parsed.caller;
    this.requestId = requireLocal(res, 'requestId');
    this.trace = requireLocal(res, 'trace');
    this.limitBackend = requireLocal(res, 'limitBackend');
    this.userAgent = readUserAgent(req.headers);
    this.sessionToken = readSessionToken(req.headers.cookie);
    this.params = parsed.params;
    this.query = parsed.query;
    this.endTurn = localsOf(res).endTurn ?? noTurn;
    this.idempotency = parsed.idempotency;
    this.file = parsed.file;
    this.body = parsed.body;
    this.#messages = messages;
    this.#em = localsOf(res).em;
  }

  get em(): Em {
    this.#em ??= forkEm(this.services.database);
    return this.#em;
  }

  get ip(): string {
    return this.#messages.req.ip ?? '';
  }

  header(name: string): string | null {
    return this.#messages.req.get(name) ?? null;
  }

  disconnected(): AbortSignal {
    this.#disconnected ??= signalDisconnection(this.#messages.res);
    return this.#disconnected;
  }

  hasLeft(): boolean {
    return hasLeft(this.#messages.res);
  }

  afterAnswer(end: () => void): void {
    const { res } = this.#messages;
    if (res.closed) end();
    else whenClosed(res, end);
  }

  workOnBody<Result>(work: () => Result | Promise<Result>): Result | Promise<Result> {
    const { res } = this.#messages;
    const isLong = (localsOf(res).bodyBytes ?? 0) > LONG_BODY_BYTES;
    return isLong ? workInTurn(this.services, requireLocal(res, 'subject'), work) : work();
  }

  dropBody(): void {
    const { req, res } = this.#messages;
    this.body = {};
    req.body = undefined;
    localsOf(res).releaseBody?.();
  }

  withParams(params: RequestContext['params']): RequestContext {
    const { caller, query, file, body, idempotency } = this;
    const parsed = { caller, params, query, file, body, idempotency };
    const other = new Context(this.services, this.#messages, parsed);
    other.#em = this.#em;
    return other;
  }
}

function readParams({ params }: Request): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name in params) read[name] = writeParam(params[name]);
  return read;
}

/** A parameter that spans segments comes as a list of them; after a slash at the end its last is empty. */
function writeParam(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join('/').replace(/\/$/, '') : String(value);
}

/**
 * Reads the query from the URL. Not `req.query`: Express's parser keeps the last of several values, and
 * `readQuery` has to see all of them.
 */
function readQueryString(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return start < 0 ? new URLSearchParams() : new URLSearchParams(url.slice(start));
}

function signalDisconnection(res: Response): AbortSignal {
  const disconnection = new AbortController();
  if (res.destroyed) disconnection.abort();
  whenClosed(res, () => {
    if (!res.writableFinished) disconnection.abort();
  });
  return disconnection.signal;
}
