// The HTTP surface: the order in which a request passes, and the table of all routes.
import express, { type Express, type RequestHandler } from 'express';
import { forkEm } from '../db/orm.ts';
import { GatewayError } from '../domain/errors.ts';
import { CONSOLE_ROUTES } from './console/routes.ts';
import { RESULT_ROUTE, sendResult } from './results.ts';
import type { Call, Caller, Gateway, Reply, Route } from './gateway.ts';
import { authenticateKey } from './middleware/bearer-key.ts';
import { answerErrors } from './middleware/errors.ts';
import { readJsonBody } from './middleware/json-body.ts';
import { requestIdOf, setRequestId } from './middleware/request-id.ts';
import { authenticateSession, refuseOtherSites, refuseUnpermitted } from './middleware/session.ts';
import { readSessionToken } from './session-cookie.ts';
import { V1_ROUTES } from './v1/routes.ts';

const USER_AGENT_CHARACTERS_MAX = 300;

export const ROUTES: readonly Route[] = [...V1_ROUTES, ...CONSOLE_ROUTES];

/** request id → route → who → body → handler → answer; every error on the way ends in one place. */
export function createApp(gateway: Gateway): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(setRequestId);
  for (const route of ROUTES) mount(app, gateway, route);
  app.get(RESULT_ROUTE, sendResult(gateway));
  for (const [path, methods] of methodsByPath()) app.all(path, refuseMethod(methods));
  app.use((_req, _res, next) => next(new GatewayError('route_not_found')));
  app.use(answerErrors(gateway.log));
  return app;
}

function mount(app: Express, gateway: Gateway, route: Route): void {
  const method = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;
  const body = route.bodyBytesMax === undefined ? [] : readJsonBody(route.bodyBytesMax);
  app[method[route.method]](route.path, authenticate(gateway, route), ...body, answer(gateway, route));
}

/** Who comes before what: a stranger's body is not even read. */
function authenticate(gateway: Gateway, route: Route): RequestHandler {
  return async (req, res, next) => {
    const em = forkEm(gateway.database);
    // Asked of the route, not of the request: HEAD reads too, by the route of GET.
    if (route.path.startsWith('/api/') && route.method !== 'GET')
      refuseOtherSites(req.headers, new URL(gateway.publicUrl()).origin);
    let caller: Caller = { proof: 'none' };
    if (route.proof === 'key') caller = await authenticateKey(gateway, em, req.headers.authorization);
    if (route.proof === 'session') {
      caller = await authenticateSession(gateway, em, req.headers.cookie);
      refuseUnpermitted(gateway.log, route, caller, requestIdOf(res));
    }
    res.locals['em'] = em;
    res.locals['caller'] = caller;
    next();
  };
}

function answer(gateway: Gateway, route: Route): RequestHandler {
  return async (req, res) => {
    const question = req.url.indexOf('?');
    const call: Call = {
      gateway,
      em: res.locals['em'],
      caller: res.locals['caller'],
      requestId: requestIdOf(res),
      ip: req.ip ?? '',
      userAgent: req.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
      sessionToken: readSessionToken(req.headers.cookie),
      params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
      query: new URLSearchParams(question < 0 ? '' : req.url.slice(question)),
      body: req.body ?? {},
    };
    const reply = await handle(route, call);
    res.setHeader('cache-control', 'no-store');
    for (const [name, value] of Object.entries(reply.headers ?? {})) res.setHeader(name, value);
    res.status(reply.status);
    if (reply.body === undefined) res.end();
    else res.json(reply.body);
  };
}

function handle(route: Route, call: Call): Promise<Reply> {
  const { caller } = call;
  if (route.proof === 'key' && caller.proof === 'key') return route.handle({ ...call, caller });
  if (route.proof === 'session' && caller.proof === 'session') return route.handle({ ...call, caller });
  if (route.proof === 'none') return route.handle(call);
  throw new Error(`${route.path} got a caller with the wrong proof`);
}

function methodsByPath(): Map<string, string[]> {
  const byPath = new Map<string, string[]>([[RESULT_ROUTE, ['GET']]]);
  for (const { path, method } of ROUTES) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  return byPath;
}

function refuseMethod(methods: string[]): RequestHandler {
  const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return (_req, res, next) => {
    res.setHeader('allow', allow.join(', '));
    next(new GatewayError('method_not_allowed'));
  };
}
