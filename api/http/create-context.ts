// Creates the context that a handler is given, from Express's request and from what the middleware set.
import type { Request, Response } from 'express';
import type { RequestContext, Route } from '../context.ts';
import { readIdempotencyKey } from '../middleware/idempotency-key.ts';
import type { Services } from '../services.ts';
import { localsOf, requireLocal } from './locals.ts';
import { readSessionToken } from './session-cookie.ts';
import { readUserAgent } from './user-agent.ts';

/** Throws 400 for an Idempotency-Key that is malformed. */
export function createContext(services: Services, route: Route, req: Request, res: Response): RequestContext {
  const parsed = {
    caller: requireLocal(res, 'caller'),
    params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
    query: readQueryString(req.url),
    file: localsOf(res).file ?? null,
    body: req.body ?? {},
  };
  return {
    ...parsed,
    services,
    em: requireLocal(res, 'em'),
    requestId: requireLocal(res, 'requestId'),
    trace: requireLocal(res, 'trace'),
    limitBackend: requireLocal(res, 'limitBackend'),
    ip: req.ip ?? '',
    userAgent: readUserAgent(req.headers),
    sessionToken: readSessionToken(req.headers.cookie),
    disconnected: () => signalDisconnection(res),
    idempotency: readIdempotencyKey(route, req.get('idempotency-key'), parsed),
  };
}

/**
 * Reads the query from the URL. Not `req.query`: Express's parser keeps the last of several values, and
 * `readQuery` has to see all of them.
 */
function readQueryString(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

function signalDisconnection(res: Response): AbortSignal {
  const disconnection = new AbortController();
  if (res.destroyed) disconnection.abort();
  res.once('close', () => {
    if (!res.writableFinished) disconnection.abort();
  });
  return disconnection.signal;
}
