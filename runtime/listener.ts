// The internal listener of a process: liveness, readiness and metrics over HTTP.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Readiness } from './readiness.ts';

export interface ListenerOptions {
  registry: Registry;
  /** Never rejects, and answers within a second. */
  checkReadiness: () => Promise<Readiness>;
}

/** Not listening yet. `/livez` checks no dependency: it answers as long as the event loop turns. */
export function createInternalListener({ registry, checkReadiness }: ListenerOptions): Server {
  return createServer((req, res) => {
    const [path] = (req.url ?? '').split('?', 1);
    if (path === '/livez') sendJson(res, 200, { status: 'ok' });
    else if (path === '/readyz') void checkReadiness().then((readiness) => sendReadiness(res, readiness));
    else if (path === '/metrics') void sendMetrics(registry, res);
    else sendJson(res, 404, { status: 'not found' });
  });
}

/** Resolves with the port, which the system chooses where `port` is 0; rejects when it cannot be had. */
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
  const isComplete = Object.values(parts).every((state) => state === 'ok' || state === 'none');
  const status = isReady ? (isComplete ? 'ok' : 'degraded') : 'unavailable';
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
