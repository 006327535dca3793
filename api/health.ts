// The internal listener: is this process alive, can it serve, and what does it count?
import { createServer, type Server, type ServerResponse } from 'node:http';
import { sql } from '@mikro-orm/postgresql';
import type { Registry } from 'prom-client';
import { forkEm } from '../db/orm.ts';
import type { Gateway } from './gateway.ts';
import { createMetrics } from './metrics.ts';

const DATABASE_WAIT_MS = 500;
const ENGINE_WAIT_MS = 500;

/** Reads cost nothing of the engine, so an engine that is away makes the gateway degraded, not unready. */
export function createHealthServer(gateway: Gateway, isStopping: () => boolean): Server {
  const metrics = createMetrics(gateway);
  return createServer((req, res) => {
    const answer = (status: number, body: object): void => {
      res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      res.end(JSON.stringify(body));
    };
    if (req.url === '/livez') return answer(200, { status: 'ok' });
    if (req.url === '/metrics') return void sendMetrics(metrics, res);
    if (req.url !== '/readyz') return answer(404, { status: 'not found' });
    void checkReadiness(gateway).then(({ database, engine }) => {
      const ready = database && !isStopping();
      const status = ready ? (engine ? 'ok' : 'degraded') : 'unavailable';
      answer(ready ? 200 : 503, {
        status,
        database: database ? 'ok' : 'down',
        temporal: engine ? 'ok' : 'down',
      });
    });
  });
}

async function sendMetrics(metrics: Registry, res: ServerResponse): Promise<void> {
  try {
    const text = await metrics.metrics();
    res.writeHead(200, { 'content-type': metrics.contentType });
    res.end(text);
  } catch {
    res.writeHead(503).end(); // the database is away; /readyz says so
  }
}

async function checkReadiness(gateway: Gateway): Promise<{ database: boolean; engine: boolean }> {
  const [database, engine] = await Promise.all([
    within(DATABASE_WAIT_MS, forkEm(gateway.database).execute(sql`select 1 from task limit 1`)),
    gateway.engine.isReachable(ENGINE_WAIT_MS),
  ]);
  return { database, engine };
}

async function within(waitMs: number, question: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  const answered = question.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
