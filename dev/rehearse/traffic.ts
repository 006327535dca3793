// Keeps a little of everything going during a drill: chats, streams, images and videos of one user.
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Callers } from './callers.ts';
import type { Account } from './walk.ts';

export interface TrafficResult {
  /** Ids of the tasks that were answered with 202. */
  accepted: readonly string[];
  requests: number;
  /** How often each answer other than a success came: a status, or `no answer`. */
  refused: Readonly<Record<string, number>>;
}

export interface Traffic {
  stop: () => Promise<TrafficResult>;
}

const CHAT = {
  model: 'gpt-6-luna',
  messages: [{ role: 'user', content: 'Hi [[sandbox tokens=5 delay=5]]' }],
};
const IMAGE = { model: 'gpt-image-2', prompt: 'a pier [[sandbox seconds=0.5]]' };
const VIDEO = { model: 'grok-imagine-video', prompt: 'waves [[sandbox seconds=2]]', duration: 1 };
const ORDERS: readonly [path: string, body: object, pauseMs: number][] = [
  ['/v1/chat/completions', CHAT, 700],
  ['/v1/chat/completions', { ...CHAT, stream: true }, 900],
  ['/v1/images/generations', IMAGE, 1_500],
  ['/v1/videos/generations', VIDEO, 2_500],
];
const REQUEST_MS_MAX = 30_000;

/** About three requests a second, far below the limits of a user. */
export function startTraffic(callers: Callers, { apiKey }: Account): Traffic {
  const ending = new AbortController();
  const accepted: string[] = [];
  const refused: Record<string, number> = {};
  let requests = 0;
  const refuse = (reason: string): void => void (refused[reason] = (refused[reason] ?? 0) + 1);
  const order = async (path: string, body: object): Promise<void> => {
    requests += 1;
    const response = await callers.raw(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    const text = await response.text();
    if (!response.ok) refuse(String(response.status));
    else if (response.status === 202) accepted.push((JSON.parse(text) as { id: string }).id);
  };
  const loops = ORDERS.map(async ([path, body, pauseMs]) => {
    while (!ending.signal.aborted) {
      await order(path, body).catch(() => refuse('no answer'));
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  });
  return {
    stop: async () => {
      ending.abort();
      await Promise.all(loops);
      return { accepted, requests, refused };
    },
  };
}
