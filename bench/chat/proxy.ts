// A proxy that the gateway is compared with: Express and undici alone, or with accounting. Accounting is
// one durable statement before and one after each call, batched with those of other calls. Neither variant
// knows keys, limits or prices.
import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { sql } from '@mikro-orm/postgresql';
import express, { type Request, type Response } from 'express';
import { Agent, request } from 'undici';
import { openDatabase } from '../../db/open-database.ts';
import { batch } from '../../db/batching.ts';
import { forkEm } from '../../db/database.ts';

const upstream = `http://127.0.0.1:${process.env['UPSTREAM_PORT']}/v1/chat/completions`;
const accounts = process.env['ACCOUNTING'] === '1';
const database = openDatabase({ url: process.env['DATABASE_URL'] ?? '', connectionsMax: 4 });
const dispatcher = new Agent({ connections: 512 });
const batchOptions = { itemsMax: 100, gatherMs: 1, isOneItemsFault: () => false };

const before = batch(async (ids: readonly string[]) => {
  await forkEm(database).execute(sql`
    insert into bench_hold (id) select id from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) e(id)`);
  return ids;
}, batchOptions);
const after = batch(async (ids: readonly string[]) => {
  await forkEm(database).execute(sql`
    update bench_hold set settled_at = now()
    where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`);
  return ids;
}, batchOptions);

if (accounts)
  await forkEm(database).execute(
    'create table if not exists bench_hold (id text primary key, settled_at timestamptz)',
  );

const app = express();
app.disable('x-powered-by');
async function relay(req: Request, res: Response): Promise<void> {
  const id = randomUUID();
  if (accounts) await before(id);
  const answer = await request(upstream, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(req.body),
  });
  res.setHeader('content-type', String(answer.headers['content-type']));
  if (req.body.stream === true) {
    await pipeline(answer.body, res, { end: false });
    if (accounts) await after(id);
    res.end();
    return;
  }
  const text = await answer.body.text();
  if (accounts) await after(id);
  res.end(text);
}

app.post('/v1/chat/completions', express.json({ limit: '1mb' }), (req, res, next) => {
  relay(req, res).catch(next);
});
app.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('the proxy is ready'));
