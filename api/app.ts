// The HTTP surface: the order in which a request passes, and the table of all routes.
//
// Express is used as a router only. On top of it is a small framework of our own: a `Route` is a row of a
// table that says who may call it and what is limited, read and repeated; its handler takes a
// `RequestContext` and returns a `Reply`, or throws a GatewayError (`api/context.ts`). Only `createContext`
// and `sendReply` in `api/http/` translate between Express and these types.
import express, { type Express, type RequestHandler } from 'express';
import { isPoolExhausted } from '../db/pool.ts';
import { GatewayError } from '../domain/errors.ts';
import { ADMIN_ROUTES } from './admin/routes.ts';
import { CONSOLE_ROUTES } from './console/routes.ts';
import { INFLATED_BYTES_MAX, type Caller, type Reply, type RequestContext, type Route } from './context.ts';
import { DOCS_FILE_ROUTE, DOCS_ROUTE, sendDocsFile, sendDocsPage } from './docs/send-docs.ts';
import { chain } from './http/chain.ts';
import { createContext } from './http/create-context.ts';
import { createDispatcher, type Dispatcher } from './http/dispatcher.ts';
import { localsOf, requireLocal } from './http/locals.ts';
import { sendReply } from './http/send-reply.ts';
import { rejectMalformedRequests, rejectWhenOverloaded } from './middleware/early-refusals.ts';
import { authenticate, authenticateAgain, recheckDoubtfulKey } from './middleware/authenticate.ts';
import { answerErrors } from './middleware/errors.ts';
import { readFormOrJsonBody } from './middleware/form-body.ts';
import { limitGuesses } from './middleware/guess-limit.ts';
import { handleIdempotently } from './middleware/idempotency-key.ts';
import { readJsonBody } from './middleware/json-body.ts';
import { limitRate } from './middleware/rate-limit.ts';
import { setRequestId } from './middleware/request-id.ts';
import { recordRequests } from './middleware/request-log.ts';
import { setSecurityHeaders } from './middleware/security-headers.ts';
import { limitStrays } from './middleware/stray-limit.ts';
import { enterInTurn, takeTurn } from './middleware/turns.ts';
import { boundUnreadBodies } from './middleware/unread-bodies.ts';
import { receiveUpload } from './middleware/upload.ts';
import { DOCUMENT_ROUTE } from './openapi/paths.ts';
import { sendDocument } from './openapi/send-document.ts';
import type { Services } from './services.ts';
import { RESULT_ROUTE, sendResult } from './tasks/results.ts';
import { answerWhenEnded } from './tasks/waiting.ts';
import { sendUpload, UPLOAD_FILE_ROUTE } from './uploads/links.ts';
import { V1_ROUTES } from './v1/routes.ts';
import { serveConsole } from './web/serve-console.ts';

/** The one route whose id may have slashes, as OpenRouter's do. */
const MODEL_PATH = '/v1/models/:id';
const ROUTER_METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

export const ROUTES: readonly Route[] = [...V1_ROUTES, ...CONSOLE_ROUTES, ...ADMIN_ROUTES];

/**
 * Routes that need no credentials: results and uploads under signed links, and the documentation of the
 * API.
 */
const FILES: Readonly<Record<string, (services: Services) => RequestHandler>> = {
  [RESULT_ROUTE]: sendResult,
  [UPLOAD_FILE_ROUTE]: sendUpload,
  [DOCUMENT_ROUTE]: () => sendDocument(ROUTES),
  [DOCS_ROUTE]: () => sendDocsPage,
  [DOCS_FILE_ROUTE]: () => sendDocsFile,
};

/**
 * Creates the app: request id → overload → turn of entry → route → authentication → rate limit → body →
 * handler → answer. Every error on the way is answered in one place.
 */
export function createApp(services: Services): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', services.trustedProxies);
  const stations = chain(
    setRequestId,
    setSecurityHeaders(services),
    recordRequests(services),
    boundUnreadBodies(),
    rejectWhenOverloaded(services),
    rejectMalformedRequests,
    enterInTurn(services),
    mountRoutes(services).dispatch,
    endEntry,
    serveConsole(services),
    rejectUnknownRoute,
  );
  app.use(
    stations,
    limitStrays(services),
    answerErrors(services.log, () => isPoolExhausted(services.database)),
  );
  return app;
}

/** Mounts the route table, the routes of files, and 405 for every other method of their paths. */
export function mountRoutes(services: Services): Dispatcher {
  const dispatcher = createDispatcher();
  for (const route of ROUTES) mount(dispatcher, services, route);
  for (const [path, serve] of Object.entries(FILES))
    dispatcher.routerOf(path).get(path, endEntry, serve(services));
  for (const [path, methods] of methodsByPath())
    dispatcher.routerOf(path).all(patternOf(path), rejectMethod(methods));
  return dispatcher;
}

function mount(dispatcher: Dispatcher, services: Services, route: Route): void {
  const { bodyBytesMax: bytesMax, inflatedBytesMax = INFLATED_BYTES_MAX } = route;
  const read = route.form ? readFormOrJsonBody : readJsonBody;
  const body =
    bytesMax === undefined
      ? []
      : [read(services, { bytesMax, inflatedBytesMax: Math.min(inflatedBytesMax, bytesMax) })];
  const answered = answer(services, route);
  const { method, path } = route;
  const serve = chain(
    noteRoute(path),
    authenticate(services, route),
    endEntry,
    limitRate(services, route),
    ...(route.limit === 'create' ? [recheckDoubtfulKey(services)] : []),
    ...body,
    ...(route.limit === 'create' ? [takeTurn(services, 'creation')] : []),
    ...(route.heavy ? [takeTurn(services, 'read')] : []),
    route.upload ? receiveUpload(services, answered) : answered,
  );
  dispatcher.routerOf(path)[ROUTER_METHODS[method]](patternOf(path), serve);
  if (!path.includes(':')) dispatcher.serveExactly(method, path, serve);
}

/** Express's pattern of a path: ids of models, such as `vendor/model`, may have slashes. */
function patternOf(path: string): string {
  return path === MODEL_PATH ? path.replace(':id', '*id') : path;
}

/** Notes the pattern for log, metrics and trace: Express's router, which also does, may be left out. */
function noteRoute(path: string): RequestHandler {
  return (_req, res, next) => {
    localsOf(res).route = path;
    next();
  };
}

/** Ends the turn of entry: what follows may wait for the caller, and has limits and turns of its own. */
const endEntry: RequestHandler = (_req, res, next) => {
  requireLocal(res, 'endEntry')();
  next();
};

function answer(services: Services, route: Route): RequestHandler {
  return async (req, res) => {
    await authenticateAgain(services, route, req, res);
    const ctx = createContext(services, route, req, res);
    const answerOnce = (): Promise<Reply> =>
      handleIdempotently(ctx, () => limitGuesses(route, ctx, () => handle(route, ctx)));
    const reply = route.waits
      ? await answerWhenEnded(ctx, { answer: answerOnce, readCreated: readerOf(route, ctx) })
      : await answerOnce();
    if (route.heavy) ctx.endTurn(); // a slow reader needs no connection
    if (route.endless) requireLocal(res, 'seat').leave();
    await sendReply(services, res, reply);
  };
}

/** Returns what reads the task that a route created; null on other routes. */
function readerOf(route: Route, ctx: RequestContext): ((taskId: string) => Promise<Reply>) | null {
  if (route.proof === 'key' && route.readCreated && isFrom(ctx, 'key')) {
    const { readCreated } = route;
    return (id) => readCreated(ctx.withParams({ id }));
  }
  if (route.proof === 'session' && route.readCreated && isFrom(ctx, 'session')) {
    const { readCreated } = route;
    return (id) => readCreated(ctx.withParams({ id }));
  }
  return null;
}

function handle(route: Route, ctx: RequestContext): Promise<Reply> {
  if (route.proof === 'key' && isFrom(ctx, 'key')) return route.handle(ctx);
  if (route.proof === 'session' && isFrom(ctx, 'session')) return route.handle(ctx);
  if (route.proof === 'none') return route.handle(ctx);
  throw new Error(`${route.path} got a caller with the wrong proof`);
}

function isFrom<Proof extends Caller['proof']>(
  ctx: RequestContext,
  proof: Proof,
): ctx is RequestContext<Extract<Caller, { proof: Proof }>> {
  return ctx.caller.proof === proof;
}

const rejectUnknownRoute: RequestHandler = (_req, _res, next) => next(new GatewayError('route_not_found'));

function methodsByPath(): Map<string, string[]> {
  const byPath = new Map(Object.keys(FILES).map((path) => [path, ['GET']]));
  for (const { path, method } of ROUTES) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  return byPath;
}

function rejectMethod(methods: string[]): RequestHandler {
  const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return (_req, res, next) => {
    res.setHeader('allow', allow.join(', '));
    next(new GatewayError('method_not_allowed'));
  };
}
