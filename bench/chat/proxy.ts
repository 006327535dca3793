// A proxy that the gateway is compared with: Express and undici alone, or with accounting. Neither variant
// knows keys, limits or prices.
import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response } from 'express';
import { Agent, request } from 'undici';
import { openDatabase } from '../../db/open-database.ts';
import { startAccounting } from './accounting.ts';

const upstream = `http://127.0.0.1:${process.env['UPSTREAM_PORT']}/v1/chat/completions`;
const dispatcher = new Agent({ connections: 512 });
const accounting =
  process.env['ACCOUNTING'] === '1'
    ? await startAccounting(openDatabase({ url: process.env['DATABASE_URL'] ?? '', connectionsMax: 4 }))
    : null;

const app = express();
app.disable('x-powered-by');
async function relay(req: Request, res: Response): Promise<void> {
  const id = randomUUID();
  if (accounting && !(await accounting.reserve(id))) {
    res.status(402).end();
    return;
  }
  const answer = await request(upstream, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(req.body),
  });
  res.setHeader('content-type', String(answer.headers['content-type']));
  if (req.body.stream === true) {
    await pipeline(answer.body, res, { end: false });
    await accounting?.settle(id);
    res.end();
    return;
  }
  const text = await answer.body.text();
  await accounting?.settle(id);
  res.end(text);
}

app.post('/v1/chat/completions', express.json({ limit: '1mb' }), (req, res, next) => {
  relay(req, res).catch(next);
});
app.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('the proxy is ready'));
