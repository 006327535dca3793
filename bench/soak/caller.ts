// Sends the requests of a soak and judges every answer: its status, its shape, its request id.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findUndocumented } from '../../dev/documented.ts';

export interface Answer {
  status: number;
  /** The parsed JSON body, the text of another, null without one. */
  body: unknown;
}

export interface Counts {
  requests: number;
  /** Requests whose caller disconnected before the answer. */
  disconnected: number;
  /** Requests whose connection failed or broke, because a process had been killed. */
  unanswered: number;
  /** Answers of the proxy before the API, which tells that it does not reach one. */
  ofProxy: number;
  byStatus: Map<number, number>;
  /** Problems of answers with their counts, ids replaced; bounded. */
  broken: Map<string, number>;
}

export interface SoakCaller {
  counts: Counts;
  /** Sends a request. Null without an answer. After `leaveAfterMs` the caller disconnects. */
  send(
    who: Record<string, string>,
    method: string,
    path: string,
    body?: unknown,
    leaveAfterMs?: number,
  ): Promise<Answer | null>;
  /** Reads a task until it has ended; null when it does not end in time. */
  untilFinal(who: Record<string, string>, taskId: string): Promise<Answer | null>;
}

const ANSWER_LIMIT_MS = 30_000;
const FINAL_LIMIT_MS = 60_000;
const BROKEN_KINDS_MAX = 50;
const WITH_DATA = z.object({ data: z.record(z.string(), z.unknown()) });
const WITH_ERROR = z.object({ error: z.object({ code: z.string() }) });
const FINAL = ['completed', 'failed', 'cancelled'];

export function createCaller(baseUrls: readonly string[]): SoakCaller {
  const counts: Counts = {
    requests: 0,
    disconnected: 0,
    unanswered: 0,
    ofProxy: 0,
    byStatus: new Map(),
    broken: new Map(),
  };
  const broke = (what: string): void => {
    if (counts.broken.size < BROKEN_KINDS_MAX || counts.broken.has(what)) count(counts.broken, what);
  };

  const send: SoakCaller['send'] = async (who, method, path, body, leaveAfterMs) => {
    counts.requests += 1;
    const baseUrl = baseUrls[counts.requests % baseUrls.length] ?? '';
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...who, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(leaveAfterMs ?? ANSWER_LIMIT_MS),
      });
      const text = await response.text();
      if (isOfProxy(response)) {
        counts.ofProxy += 1;
        return null;
      }
      const answer = readAnswer(response, text);
      count(counts.byStatus, response.status);
      for (const problem of judge(method, path, response, answer)) broke(problem);
      return answer;
    } catch (error) {
      if (error instanceof SyntaxError) broke(`${method} ${path}: ${error.message}`);
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      if (isLate && leaveAfterMs === undefined)
        broke(`${method} ${path}: no answer within ${ANSWER_LIMIT_MS} ms`);
      if (isLate) counts.disconnected += 1;
      else counts.unanswered += 1;
      return null;
    }
  };

  return {
    counts,
    send,
    untilFinal: async (who, taskId) => {
      const giveUpAt = Date.now() + FINAL_LIMIT_MS;
      for (let pauseMs = 100; Date.now() < giveUpAt; pauseMs = Math.min(pauseMs * 1.5, 2_000)) {
        const answer = await send(who, 'GET', `/api/tasks/${taskId}`);
        if (FINAL.includes(textIn(answer, 'status') ?? '')) return answer;
        await sleep(pauseMs);
      }
      return null;
    },
  };
}

/** The text under a name in the `data` of an answer; null without one. */
export function textIn(answer: Answer | null, name: string): string | null {
  const value = WITH_DATA.safeParse(answer?.body).data?.data[name];
  return typeof value === 'string' ? value : null;
}

/** The gateway gives each answer an id; a proxy says by a page of HTML that it does not reach it. */
function isOfProxy({ status, headers }: Response): boolean {
  const isHtml = headers.get('content-type')?.startsWith('text/html') ?? false;
  return isHtml && [502, 503, 504].includes(status) && headers.get('x-request-id') === null;
}

function readAnswer({ status, headers }: Response, text: string): Answer {
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status, body: isJson && text !== '' ? JSON.parse(text) : text === '' ? null : text };
}

function judge(method: string, path: string, { headers }: Response, { status, body }: Answer): string[] {
  const problems = findUndocumented(method, path, { status, headers, body });
  if (headers.get('x-request-id') === null) problems.push(`${method} ${path}: no x-request-id`);
  if (status === 500) problems.push(`${method} ${path}: 500 ${WITH_ERROR.safeParse(body).data?.error.code}`);
  // Ids would make every problem another kind.
  return problems.map((problem) => problem.replaceAll(/[a-z]{3,4}_[0-9A-Z]{26}/g, '{id}').slice(0, 300));
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
