// Keeps a little of everything going during a drill: chats, streams, images and videos of one user.
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Callers } from './callers.ts';
import type { Account } from './walk.ts';

export interface TrafficResult {
  /** Ids of the tasks that were answered with 202. */
  accepted: readonly string[];
  requests: number;
  /** How often each answer other than a success came: status and code, `no answer`, or `cut stream`. */
  refused: Readonly<Record<string, number>>;
  /** The longest time from an order's first request to its success, repeats included. */
  slowestSeconds: number;
  /** Orders of tasks, and of chats, that had no success when their caller gave up. */
  givenUp: Readonly<Record<'tasks' | 'chats', number>>;
}

export interface Traffic {
  /** Ids of the tasks so far. */
  accepted: readonly string[];
  stop: () => Promise<TrafficResult>;
}

type Order = readonly [path: string, body: object, pauseMs: number];

const CHAT = {
  model: 'gpt-6-luna',
  messages: [{ role: 'user', content: 'Hi [[sandbox tokens=5 delay=5]]' }],
};
const IMAGE = { model: 'gpt-image-2', prompt: 'a pier [[sandbox seconds=0.5]]' };
const VIDEO = { model: 'grok-imagine-video', prompt: 'waves [[sandbox seconds=2]]', duration: 1 };
const CHATS = '/v1/chat/completions';
const ORDERS: readonly Order[] = [
  [CHATS, CHAT, 700],
  [CHATS, { ...CHAT, stream: true }, 900],
  ['/v1/images/generations', IMAGE, 1_500],
  ['/v1/videos/generations', VIDEO, 2_500],
];
const REQUEST_MS_MAX = 30_000;
/** How long a caller repeats an order. */
const ORDER_MS_MAX = 60_000;
const REPEAT_MS = 1_000;

/** About three orders a second, far below the limits of a user. What fails is repeated with its key. */
export function startTraffic(callers: Callers, { apiKey }: Pick<Account, 'apiKey'>): Traffic {
  const ending = new AbortController();
  const accepted: string[] = [];
  const refused: Record<string, number> = {};
  const givenUp = { tasks: 0, chats: 0 };
  let [requests, slowestMs] = [0, 0];
  const ask = async (path: string, body: object, key: string): Promise<boolean> => {
    requests += 1;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    const signal = AbortSignal.timeout(REQUEST_MS_MAX);
    const outcome = await callers
      .raw(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
      .then(async (response) => judge(response, await response.text()))
      .catch(() => ({ refusal: 'no answer' }));
    if ('taskId' in outcome) accepted.push(outcome.taskId);
    if ('refusal' in outcome) refused[outcome.refusal] = (refused[outcome.refusal] ?? 0) + 1;
    return !('refusal' in outcome);
  };
  const order = async (path: string, body: object): Promise<void> => {
    const [key, startedAt] = [randomUUID(), performance.now()];
    const elapsedMs = (): number => performance.now() - startedAt;
    let isDone = await ask(path, body, key);
    while (!isDone && elapsedMs() < ORDER_MS_MAX) {
      await sleep(REPEAT_MS);
      isDone = await ask(path, body, key);
    }
    if (isDone) slowestMs = Math.max(slowestMs, elapsedMs());
    else givenUp[path === CHATS ? 'chats' : 'tasks'] += 1;
  };
  const loops = ORDERS.map(async ([path, body, pauseMs]) => {
    while (!ending.signal.aborted) {
      await order(path, body);
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  });
  return {
    accepted,
    stop: async () => {
      ending.abort();
      await Promise.all(loops);
      return { accepted, requests, refused, slowestSeconds: slowestMs / 1000, givenUp };
    },
  };
}

/** Orders a video on which its vendor works that long. Returns the task's id. */
export async function orderVideo(callers: Callers, apiKey: string, seconds: number): Promise<string> {
  const prompt = `waves [[sandbox seconds=${seconds}]]`;
  const key = callers.withKey(apiKey);
  const { body } = await key('POST', '/v1/videos/generations', { body: { ...VIDEO, prompt } });
  return String(body.data.id);
}

/** Images are answered as they are, videos below `data`. */
function readTaskId(text: string): string {
  const body = JSON.parse(text) as { id?: string; data?: { id?: string } };
  const id = body.id ?? body.data?.id;
  if (id === undefined) throw new Error(`an order was answered without a task: ${text}`);
  return id;
}

function judge(
  { ok, status, headers }: Response,
  text: string,
): { taskId: string } | { refusal: string } | object {
  if (status === 202) return { taskId: readTaskId(text) };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (ok) return isStream && !text.trimEnd().endsWith('[DONE]') ? { refusal: 'cut stream' } : {};
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'of the proxy';
  return { refusal: `${status} ${code}` };
}
