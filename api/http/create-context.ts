// Creates the context that a handler is given, from Express's request and from what the middleware set.
import type { Request, Response } from 'express';
import { forkEm, type Em } from '../../db/database.ts';
import type { RequestContext, Route } from '../context.ts';
import { readIdempotencyKey } from '../middleware/idempotency-key.ts';
import type { Services } from '../services.ts';
import { localsOf, requireLocal } from './locals.ts';
import { LONG_BODY_BYTES, workInTurn } from './long-work.ts';
import { readSessionToken } from './session-cookie.ts';
import { readUserAgent } from './user-agent.ts';

const noTurn = (): void => undefined;

/**
 * Throws 400 for an Idempotency-Key that is malformed. What most handlers do not ask for is made when they
 * do: an EntityManager, and the address behind trusted proxies.
 */
export function createContext(services: Services, route: Route, req: Request, res: Response): RequestContext {
  const parsed = {
    caller: requireLocal(res, 'caller'),
    params: readParams(req),
    query: readQueryString(req.url),
    file: localsOf(res).file ?? null,
    body: req.body ?? {},
  };
  let em: Em | undefined = localsOf(res).em;
  const ctx: RequestContext = {
    ...parsed,
    services,
    get em() {
      em ??= forkEm(services.database);
      return em;
    },
    requestId: requireLocal(res, 'requestId'),
    trace: requireLocal(res, 'trace'),
    limitBackend: requireLocal(res, 'limitBackend'),
    get ip() {
      return req.ip ?? '';
    },
    userAgent: readUserAgent(req.headers),
    sessionToken: readSessionToken(req.headers.cookie),
    endTurn: localsOf(res).endTurn ?? noTurn,
    header: (name) => req.get(name) ?? null,
    disconnected: () => signalDisconnection(res),
    afterAnswer: (end) => {
      if (res.closed) end();
      else res.once('close', end);
    },
    idempotency: readIdempotencyKey(route, req.headers['idempotency-key']?.toString(), parsed),
    workOnBody: async (work) =>
      (localsOf(res).bodyBytes ?? 0) > LONG_BODY_BYTES
        ? workInTurn(services, requireLocal(res, 'subject'), work)
        : work(),
    dropBody: () => {
      ctx.body = {};
      req.body = undefined;
      localsOf(res).releaseBody?.();
    },
  };
  return ctx;
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
  res.once('close', () => {
    if (!res.writableFinished) disconnection.abort();
  });
  return disconnection.signal;
}
