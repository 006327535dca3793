// The HTTP surface: the order in which a request passes, and the table of all routes.
import express, { type Express, type RequestHandler, type Response } from 'express';
import { isPoolExhausted } from '../db/pool.ts';
import { GatewayError } from '../domain/errors.ts';
import { ADMIN_ROUTES } from './admin/routes.ts';
import { CONSOLE_ROUTES } from './console/routes.ts';
import { DOCS_FILE_ROUTE, DOCS_ROUTE, sendDocsFile, sendDocsPage } from './docs/send-docs.ts';
import { RESULT_ROUTE, sendResult } from './tasks/results.ts';
import type { RequestContext, Caller, Reply, Route } from './context.ts';
import { rejectMalformedRequests, rejectWhenOverloaded } from './middleware/admission.ts';
import { authenticateKey } from './middleware/bearer-key.ts';
import { requireBodyRoom } from './middleware/body-room.ts';
import { answerErrors } from './middleware/errors.ts';
import { handleOnce, keepStreamed, readOnce } from './middleware/idempotency.ts';
import { readJsonBody } from './middleware/json-body.ts';
import { limitBackendOf, limitRate } from './middleware/rate-limit.ts';
import { requestIdOf, setRequestId } from './middleware/request-id.ts';
import { recordRequests, requestTraceOf } from './middleware/request-log.ts';
import { setSecurityHeaders } from './middleware/security-headers.ts';
import { authenticateSession, rejectOtherSites, requirePermission } from './middleware/session.ts';
import { closeUnreadUpload, receiveUpload } from './middleware/upload.ts';
import { sendDocument } from './openapi/send-document.ts';
import { readSessionToken } from './http/session-cookie.ts';
import { sendUpload, UPLOAD_FILE_ROUTE } from './uploads/links.ts';
import { V1_ROUTES } from './v1/routes.ts';
import { forkEm } from '../db/database.ts';
import { DOCUMENT_ROUTE } from './openapi/paths.ts';
import type { Services } from './services.ts';

const USER_AGENT_CHARACTERS_MAX = 300;

export const ROUTES: readonly Route[] = [...V1_ROUTES, ...CONSOLE_ROUTES, ...ADMIN_ROUTES];

/** Served to everybody: results and uploads under signed links, and the description of all this. */
const FILES: Readonly<Record<string, (services: Services) => RequestHandler>> = {
  [RESULT_ROUTE]: sendResult,
  [UPLOAD_FILE_ROUTE]: sendUpload,
  [DOCUMENT_ROUTE]: () => sendDocument(ROUTES),
  [DOCS_ROUTE]: () => sendDocsPage,
  [DOCS_FILE_ROUTE]: () => sendDocsFile,
};

/** request id → route → who → limit → body → handler → answer; every error on the way ends in one place. */
export function createApp(services: Services): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', services.trustedProxies);
  app.use(
    setRequestId,
    setSecurityHeaders,
    recordRequests(services),
    rejectWhenOverloaded(services),
    rejectMalformedRequests,
  );
  for (const route of ROUTES) mount(app, services, route);
  for (const [path, serve] of Object.entries(FILES)) app.get(path, serve(services));
  for (const [path, methods] of methodsByPath()) app.all(path, refuseMethod(methods));
  app.use((_req, _res, next) => next(new GatewayError('route_not_found')));
  app.use(answerErrors(services.log, () => isPoolExhausted(services.database)));
  return app;
}

function mount(app: Express, services: Services, route: Route): void {
  const method = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;
  const { bodyBytesMax } = route;
  const body =
    bodyBytesMax === undefined
      ? []
      : [requireBodyRoom(services, bodyBytesMax), ...readJsonBody(bodyBytesMax)];
  const answered = answer(services, route);
  app[method[route.method]](
    route.path,
    ...(route.upload ? [closeUnreadUpload] : []),
    authenticate(services, route),
    limitRate(services, route),
    ...body,
    route.upload ? receiveUpload(services, answered) : answered,
  );
}

/** Who comes before what: a stranger's body is not even read. */
function authenticate(services: Services, route: Route): RequestHandler {
  return async (req, res, next) => {
    const em = forkEm(services.database);
    // Asked of the route, not of the request: HEAD reads too, by the route of GET.
    if (route.path.startsWith('/api/') && route.method !== 'GET')
      rejectOtherSites(req.headers, new URL(services.publicUrl()).origin);
    let caller: Caller = { proof: 'none' };
    if (route.proof === 'key') caller = await authenticateKey(services, em, req, route.limit);
    if (route.proof === 'session') {
      caller = await authenticateSession(services, em, req.headers.cookie);
      requirePermission(services.log, route, caller, requestIdOf(res));
    }
    res.locals['em'] = em;
    res.locals['caller'] = caller;
    next();
  };
}

function answer(services: Services, route: Route): RequestHandler {
  return async (req, res) => {
    const question = req.url.indexOf('?');
    const unkeyed = {
      services,
      em: res.locals['em'],
      caller: res.locals['caller'],
      requestId: requestIdOf(res),
      trace: requestTraceOf(res),
      limitBackend: limitBackendOf(res),
      ip: req.ip ?? '',
      userAgent: req.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
      sessionToken: readSessionToken(req.headers.cookie),
      params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
      query: new URLSearchParams(question < 0 ? '' : req.url.slice(question)),
      disconnected: () => whenCallerLeaves(res),
      file: res.locals['file'] ?? null,
      body: req.body ?? {},
    };
    const ctx: RequestContext = {
      ...unkeyed,
      idempotency: readOnce(route, req.get('idempotency-key'), unkeyed),
    };
    const reply = await handleOnce(ctx, () => handle(route, ctx));
    res.setHeader('cache-control', 'no-store');
    for (const [name, value] of Object.entries(reply.headers ?? {})) res.setHeader(name, value);
    res.status(reply.status);
    if (reply.stream) {
      res.flushHeaders();
      await keepStreamed(ctx, reply, await reply.stream(res));
    } else if (typeof reply.body === 'string') res.end(reply.body);
    else if (reply.body === undefined) res.end();
    else sendJson(res, reply.body);
  };
}

/** Without Express's answer 304 to whoever has one already: nobody may have kept one. */
function sendJson(res: Response, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', bytes.byteLength);
  res.end(bytes);
}

function whenCallerLeaves(res: Response): AbortSignal {
  const leaving = new AbortController();
  if (res.destroyed) leaving.abort();
  res.once('close', () => {
    if (!res.writableFinished) leaving.abort();
  });
  return leaving.signal;
}

function handle(route: Route, ctx: RequestContext): Promise<Reply> {
  const { caller } = ctx;
  if (route.proof === 'key' && caller.proof === 'key') return route.handle({ ...ctx, caller });
  if (route.proof === 'session' && caller.proof === 'session') return route.handle({ ...ctx, caller });
  if (route.proof === 'none') return route.handle(ctx);
  throw new Error(`${route.path} got a caller with the wrong proof`);
}

function methodsByPath(): Map<string, string[]> {
  const byPath = new Map(Object.keys(FILES).map((path) => [path, ['GET']]));
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
