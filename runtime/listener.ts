// The internal listener of a process: is it alive, can it do its work, and what does it count?
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface Readiness {
  isReady: boolean;
  /** By part: `ok`, `none` where it is not configured, or what is the matter: that makes a ready process degraded. */
  parts: Readonly<Record<string, string>>;
}

export interface ListenerOptions {
  registry: Registry;
  /** Never throws, and answers within a second. */
  checkReadiness: () => Promise<Readiness>;
}

/** `/livez` asks nobody: it answers as long as the event loop turns. */
export function createInternalListener({ registry, checkReadiness }: ListenerOptions): Server {
  return createServer((req, res) => {
    const [path] = (req.url ?? '').split('?', 1);
    if (path === '/livez') sendJson(res, 200, { status: 'ok' });
    else if (path === '/readyz') void checkReadiness().then((readiness) => sendReadiness(res, readiness));
    else if (path === '/metrics') void sendMetrics(registry, res);
    else sendJson(res, 404, { status: 'not found' });
  });
}

/** What the question answers, or null when it fails or takes longer than that. */
export async function answerWithin<Answer>(
  waitMs: number,
  question: Promise<Answer>,
): Promise<Answer | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  const answer = question.catch(() => null);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Answers the port it listens on. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      resolve(address.port);
    });
  });
}

function sendReadiness(res: ServerResponse, { isReady, parts }: Readiness): void {
  const isWhole = Object.values(parts).every((state) => state === 'ok' || state === 'none');
  const status = isReady ? (isWhole ? 'ok' : 'degraded') : 'unavailable';
  sendJson(res, isReady ? 200 : 503, { status, ...parts });
}

async function sendMetrics(registry: Registry, res: ServerResponse): Promise<void> {
  const text = await registry.metrics();
  res.writeHead(200, { 'content-type': registry.contentType });
  res.end(text);
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify(body));
}
