/** The sandbox's HTTP server: finds the vendor a request is for, keeps the journal, sends the answer. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, EarlyAnswer, json, sendAnswer } from './answers.ts';
import { Counts } from './counts.ts';
import type { SandboxRequest } from './dialect.ts';
import { geminiImages } from './google/gemini-images.ts';
import { grokVideo } from './grok/video.ts';
import { hailuoV1 } from './hailuo/v1.ts';
import { hailuoV2 } from './hailuo/v2.ts';
import { klingLegacy } from './kling/legacy.ts';
import { kling } from './kling/kling.ts';
import { openaiChat, xaiChat } from './openai/chat.ts';
import { openaiImages } from './openai/images.ts';
import { vidu } from './vidu/vidu.ts';
import { seedance } from './seedance/seedance.ts';
import { sora } from './openai/sora.ts';
import { veo } from './google/veo.ts';
import { veoVertex } from './google/veo-vertex.ts';
import { wan } from './wan/wan.ts';
import { Jobs } from './jobs.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { type Found, Routes } from './routes.ts';

export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** Breaks off what is still being answered. */
  close(): Promise<void>;
}

const DIALECTS = [
  openaiImages,
  grokVideo,
  openaiChat,
  xaiChat,
  geminiImages,
  vidu,
  klingLegacy,
  kling,
  hailuoV2,
  hailuoV1,
  seedance,
  wan,
  sora,
  veo,
  veoVertex,
];

const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** Longer than any client keeps a connection, so that no reuse of one meets its end by chance. */
const KEEP_ALIVE_MS = 10 * 60_000;

interface State {
  readonly routes: Routes;
  readonly journal: Journal;
  readonly jobs: Jobs;
  readonly counts: Counts;
}

/** Port 0 takes a free one. */
export async function startSandbox(options: { port: number; host: string }): Promise<Sandbox> {
  const state: State = {
    routes: new Routes(DIALECTS),
    journal: new Journal(),
    jobs: new Jobs(Date.now),
    counts: new Counts(),
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (req, res) => {
    receive(state, req, res).catch((error: unknown) => giveUp(res, error));
  });
  const port = await listen(server, options);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, port, close: () => close(server) };
}

async function receive(state: State, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const origin = `http://${req.headers.host ?? 'localhost'}`;
  const path = (req.url ?? '/').split('?')[0] ?? '/';
  const query = new URLSearchParams((req.url ?? '').slice(path.length + 1));
  const contains = query.get('contains') ?? '';
  if (path === '/_journal') {
    return sendAnswer(req, res, json(200, { entries: state.journal.about(contains) }));
  }
  if (path === '/_jobs') return sendAnswer(req, res, json(200, { jobs: state.jobs.about(contains) }));
  const found = state.routes.find(req.method ?? '', path);
  if (found === undefined) {
    return sendAnswer(req, res, json(404, { error: 'No vendor lives at this path of the sandbox.' }));
  }
  const entry = openEntry(found, req, path);
  state.journal.arrive(entry);
  return playCall(state, found, { req, res, origin, query, entry });
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: string;
  readonly query: URLSearchParams;
  readonly entry: JournalEntry;
}

async function playCall(state: State, found: Found, exchange: Exchange): Promise<void> {
  const { req, res, origin, query, entry } = exchange;
  const closing = new AbortController();
  let brokenByUs = false;
  res.once('close', () => {
    if (!res.writableFinished && !brokenByUs) entry.clientClosedAt = new Date().toISOString();
    closing.abort();
  });
  const body = await readBody(req);
  const { vendor, voice } = found.dialect;
  const { jobs, counts } = state;
  const { parameters } = found;
  const call = { req, vendor, voice, parameters, query, origin, entry, jobs, counts, closed: closing.signal };
  const answer = body === undefined ? voice.refuse(413) : await answerOf(found, { ...call, body });
  if (closing.signal.aborted) return;
  if ('status' in answer) entry.status = answer.status;
  res.setHeader('x-request-id', randomUUID());
  if (body === undefined) res.setHeader('connection', 'close');
  await sendAnswer(req, res, answer, () => {
    brokenByUs = true;
  });
}

async function answerOf(found: Found, request: SandboxRequest): Promise<Answer> {
  if (found.route === undefined) return request.voice.refuse(found.pathExists ? 405 : 404);
  try {
    return await found.route.play(request);
  } catch (error) {
    if (error instanceof EarlyAnswer) return error.answer;
    if (request.closed.aborted) throw error;
    console.error(error);
    return request.voice.refuse(500);
  }
}

function openEntry(found: Found, req: IncomingMessage, path: string): JournalEntry {
  return {
    at: new Date().toISOString(),
    vendor: found.dialect.vendor,
    operation: found.route?.operation ?? 'other',
    method: req.method ?? '',
    path,
    jobId: null,
    status: null,
    clientClosedAt: null,
    prompt: '',
  };
}

/** Undefined where there is more than BODY_BYTES_MAX of it; the rest is not kept. */
function readBody(req: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    req.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= BODY_BYTES_MAX) pieces.push(piece);
      else resolve(undefined);
    });
    req.once('end', () => resolve(Buffer.concat(pieces)));
    req.once('error', reject);
    req.once('close', () => reject(new Error('The client went before its request was complete.')));
  });
}

/** Nobody is left to answer: the client went, or the answer broke half way. */
function giveUp(res: ServerResponse, error: unknown): void {
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
