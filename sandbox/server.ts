// The sandbox's HTTP server: finds the vendor API a request is for, keeps the journal and sends the answer.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, EarlyAnswer, json, sendAnswer } from './answers.ts';
import { Jobs } from './jobs.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { RequestCounts } from './request-counts.ts';
import { type RouteMatch, Routes } from './routes.ts';
import type { SandboxRequest } from './vendor-api.ts';
import { VENDOR_APIS } from './vendors.ts';

export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** Closes the server and breaks off the answers under way. */
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** Longer than clients keep a connection, so that the server never closes one that is just being reused. */
const KEEP_ALIVE_MS = 10 * 60_000;

interface State {
  readonly routes: Routes;
  readonly journal: Journal;
  readonly jobs: Jobs;
  readonly counts: RequestCounts;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: string;
  readonly query: URLSearchParams;
  readonly entry: JournalEntry;
}

/** Port 0 takes a free one. */
export async function startSandbox(options: { port: number; host: string }): Promise<Sandbox> {
  const state: State = {
    routes: new Routes(VENDOR_APIS),
    journal: new Journal(),
    jobs: new Jobs(Date.now),
    counts: new RequestCounts(),
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (req, res) => {
    handle(state, req, res).catch((error: unknown) => dropConnection(res, error));
  });
  const port = await listen(server, options);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, port, close: () => close(server) };
}

async function handle(state: State, req: IncomingMessage, res: ServerResponse): Promise<void> {
  // A proxy before it may terminate TLS.
  const scheme = req.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  const origin = `${scheme}://${req.headers.host ?? 'localhost'}`;
  const path = (req.url ?? '/').split('?')[0] ?? '/';
  const query = new URLSearchParams((req.url ?? '').slice(path.length + 1));
  const contains = query.get('contains') ?? '';
  if (path === '/_journal') {
    return sendAnswer(req, res, json(200, { entries: state.journal.search(contains) }));
  }
  if (path === '/_jobs') return sendAnswer(req, res, json(200, { jobs: state.jobs.search(contains) }));
  const match = state.routes.find(req.method ?? '', path);
  if (match === null) {
    return sendAnswer(req, res, json(404, { error: 'No vendor lives at this path of the sandbox.' }));
  }
  const entry = newEntry(match, req, path);
  state.journal.add(entry);
  return handleVendorRequest(state, match, { req, res, origin, query, entry });
}

async function handleVendorRequest(state: State, match: RouteMatch, exchange: Exchange): Promise<void> {
  const { req, res, entry } = exchange;
  const closing = new AbortController();
  let brokenBySandbox = false;
  res.once('close', () => {
    if (!res.writableFinished && !brokenBySandbox) entry.clientClosedAt = new Date().toISOString();
    closing.abort();
  });
  const body = await readBody(req);
  const answer =
    body === null
      ? match.api.errorFormat.refuse(413)
      : await answerOf(match, newRequest(state, match, exchange, body, closing.signal));
  if (closing.signal.aborted) return;
  if ('status' in answer) entry.status = answer.status;
  res.setHeader('x-request-id', randomUUID());
  if (body === null) res.setHeader('connection', 'close');
  await sendAnswer(req, res, answer, () => {
    brokenBySandbox = true;
  });
}

function newRequest(
  { jobs, counts }: State,
  { api, parameters }: RouteMatch,
  { req, origin, query, entry }: Exchange,
  body: Buffer,
  closed: AbortSignal,
): SandboxRequest {
  const { vendor, errorFormat } = api;
  return { req, vendor, errorFormat, parameters, query, body, origin, entry, jobs, counts, closed };
}

async function answerOf({ route, pathExists }: RouteMatch, request: SandboxRequest): Promise<Answer> {
  if (route === null) return request.errorFormat.refuse(pathExists ? 405 : 404);
  try {
    return await route.handle(request);
  } catch (error) {
    if (error instanceof EarlyAnswer) return error.answer;
    if (request.closed.aborted) throw error;
    console.error(error);
    return request.errorFormat.refuse(500);
  }
}

function newEntry(match: RouteMatch, req: IncomingMessage, path: string): JournalEntry {
  return {
    at: new Date().toISOString(),
    vendor: match.api.vendor,
    operation: match.route?.operation ?? 'other',
    method: req.method ?? '',
    path,
    jobId: null,
    status: null,
    clientClosedAt: null,
    prompt: '',
  };
}

/** Null for a body of more than BODY_BYTES_MAX, of which the rest is discarded. */
function readBody(req: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    req.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= BODY_BYTES_MAX) pieces.push(piece);
      else resolve(null);
    });
    req.once('end', () => resolve(Buffer.concat(pieces)));
    req.once('error', reject);
    req.once('close', () => reject(new Error('The client went before its request was complete.')));
  });
}

/** Logs the error and closes the connection, unless the client disconnected already. */
function dropConnection(res: ServerResponse, error: unknown): void {
  if (res.destroyed || res.closed) return;
  console.error(error);
  res.destroy();
}

function listen(server: Server, options: { port: number; host: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : options.port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}
