// A stand-in for a vendor: answers every request as the test says and remembers what it was sent.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { familyUpstream } from '../../domain/catalog/upstream.ts';
import { UpstreamFailure, type UpstreamJob } from '../../providers/provider.ts';
import type { AdapterSettings } from '../../providers/settings.ts';
import { orderOf } from '../support/orders.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface StandIn {
  url: string;
  /** Every request, in order. */
  received: Received[];
  /** How many sockets were opened. */
  connections(): number;
  close(): Promise<void>;
}

export type Play = (res: ServerResponse, req: Received) => void;

export async function startStandIn(play: Play): Promise<StandIn> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((req, res) => {
    buffer(req).then(
      (body) => {
        const seen = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body };
        received.push(seen);
        play(res, seen);
      },
      () => res.destroy(),
    );
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    connections: () => connections,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Settings of an adapter with two credentials, `default` and `second`. */
export function settingsAt(baseUrl: string): AdapterSettings {
  const credentials = [
    { id: 'default', key: 'sk-first' },
    { id: 'second', key: 'sk-second' },
  ];
  return { baseUrl, credentials, upstreamTimeoutMs: 2_000 };
}

export function sendJson(
  res: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
}

/** Sends bytes without end, at the reader's pace. */
export function sendEndlessly(res: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const more = (): void => {
    while (!res.destroyed && res.write(chunk));
  };
  res.on('drain', more);
  more();
}

/** Returns the UpstreamFailure of a rejected call; throws when the call succeeds or fails otherwise. */
export async function failureOf(call: Promise<unknown>): Promise<UpstreamFailure> {
  try {
    await call;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
  throw new Error('expected an UpstreamFailure, but the call went well');
}

/** Class and fate in one text, such as `transient, unknown`. */
export function verdictOf({ errorClass, fate }: UpstreamFailure): string {
  return `${errorClass}, ${fate}`;
}

export function imageJob(changes: Partial<UpstreamJob> & { images?: number } = {}): UpstreamJob {
  const { images = 1, ...rest } = changes;
  return {
    reference: 'task_1-1',
    credential: 'default',
    upstreamModel: 'gpt-image-2.5-flare',
    prompt: 'a cat',
    inputImages: [],
    inputVideos: [],
    negativePrompt: null,
    messages: [],
    upstreams: [],
    userId: 'usr_1',
    order: orderOf({ mode: 'image', images, resolution: '1K', ratio: '1:1' }),
    ...rest,
  };
}

export function videoJob(changes: Partial<UpstreamJob> = {}): UpstreamJob {
  return {
    reference: 'task_1-1',
    credential: 'default',
    upstreamModel: 'grok-imagine-video',
    prompt: 'a cat that runs',
    inputImages: [],
    inputVideos: [],
    negativePrompt: null,
    messages: [],
    upstreams: [],
    userId: 'usr_1',
    order: orderOf({ seconds: 5, resolution: '480p', ratio: '16:9' }),
    ...changes,
  };
}

export function textJob(changes: Partial<UpstreamJob> = {}): UpstreamJob {
  const job = imageJob();
  const messages = [{ role: 'user', content: 'Say something.' }];
  const order = { ...job.order, mode: 'text', images: 0, resolution: null, ratio: null } as const;
  const tokens = { promptTokens: 100, outputTokens: 50, answerLimitedBy: 'caller' } as const;
  const upstreamModel = 'gpt-6-luna';
  const upstreams = [familyUpstream('openai', upstreamModel)];
  return { ...job, upstreamModel, upstreams, messages, order: { ...order, ...tokens }, ...changes };
}

/** The smallest true PNG: one transparent pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
