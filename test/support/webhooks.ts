// Receivers of webhooks: a server on this machine that keeps what it gets and answers as a test tells it to.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { z } from 'zod';
import { NEW_WEBHOOK, WEBHOOK_DELIVERY, type WebhookDeliveryView } from '../../api/shapes/webhooks.ts';
import { findUndocumentedDelivery } from '../../dev/documented.ts';
import type { Actor } from './http/http.ts';
import { until } from './until.ts';

/** What every message has; the rest of it is held against the OpenAPI document. */
const BODY = z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) });
type NewWebhook = z.output<typeof NEW_WEBHOOK>;

export interface ReceivedWebhook {
  path: string;
  /** Sent as `webhook-id`. */
  id: string;
  headers: Record<string, string>;
  text: string;
  body: z.output<typeof BODY>;
  at: number;
}

export interface Receiver {
  url: string;
  received: ReceivedWebhook[];
  /** What arrived at this path. */
  at(path: string): ReceivedWebhook[];
  /** Resolves when `count` requests have arrived at this path, each as the OpenAPI document promises it. */
  until(path: string, count: number, limitMs?: number): Promise<ReceivedWebhook[]>;
  close(): Promise<void>;
}

/** `seen`: how many requests with this `webhook-id` have come to this path, this one included. */
export type Respond = (
  res: ServerResponse,
  request: ReceivedWebhook & { seen: number },
) => void | Promise<void>;

/** Answers 204 unless `respond` answers otherwise. */
export async function startReceiver(
  respond: Respond = (res) => void res.writeHead(204).end(),
): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((req, res) => {
    void read(req).then((request) => {
      received.push(request);
      const seen = received.filter(({ path, id }) => path === request.path && id === request.id).length;
      return respond(res, { ...request, seen });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = (path: string) => received.filter((request) => request.path === path);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at,
    until: async (path, count, limitMs) => {
      const title = `${count} webhooks at ${path}`;
      const arrived = await until(title, async () => at(path).length >= count && at(path), limitMs);
      expect(arrived.flatMap(judge)).to.deep.equal([]);
      return arrived;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function judge({ headers, body }: ReceivedWebhook): string[] {
  return findUndocumentedDelivery({ headers: new Headers(headers), body });
}

async function read(req: IncomingMessage): Promise<ReceivedWebhook> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
  );
  const id = headers['webhook-id'] ?? '';
  return { path: req.url ?? '', id, headers, text, body: BODY.parse(JSON.parse(text)), at: Date.now() };
}

/** Makes a webhook; answers its view with the secret. */
export async function makeWebhook(session: Actor, fields: object): Promise<NewWebhook> {
  const { status, body } = await session.post('/api/webhooks', { events: ['task.completed'], ...fields });
  expect(status, JSON.stringify(body)).to.equal(201);
  return NEW_WEBHOOK.parse(body.data);
}

/** The deliveries of a webhook, newest first. */
export async function readDeliveries(session: Actor, webhookId: string): Promise<WebhookDeliveryView[]> {
  const { body } = await session.get(`/api/webhooks/${webhookId}/deliveries`);
  return z.array(WEBHOOK_DELIVERY).parse(body.data);
}

/** Waits until the newest delivery has this status. */
export async function untilDelivery(
  session: Actor,
  webhookId: string,
  status: string,
): Promise<WebhookDeliveryView> {
  return until(`the newest delivery of ${webhookId} is ${status}`, async () => {
    const [newest] = await readDeliveries(session, webhookId);
    return newest?.status === status && newest;
  });
}
