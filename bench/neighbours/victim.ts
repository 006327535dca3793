// Another user beside the attacks: chat calls and reads, one after the other, and what the process was like.
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../measure.ts';

export interface Seen {
  calls: number;
  failed: number;
  /** The first failure, such as `chat 503 overloaded`; empty without one. */
  firstFailure: string;
  chatP99Ms: number;
  readP99Ms: number;
}

interface Timed {
  what: string;
  status: number;
  /** The code of an error; empty for an answer. */
  code: string;
  ms: number;
}

/** Some 30 calls a second: of 300 in all, the p99 would be the third slowest. */
const PAUSE_MS = 20;
const ANSWER_WAIT_MS = 20_000;

/** Calls and reads for so many milliseconds, with the keys in turn. */
export async function watchVictim(baseUrl: string, keys: readonly string[], forMs: number): Promise<Seen> {
  const answers: Timed[] = [];
  const until = Date.now() + forMs;
  for (let round = 0; Date.now() < until; round += 1) {
    const key = keys[round % keys.length] ?? '';
    answers.push(await chat(baseUrl, key), await read(baseUrl, key));
    await sleep(PAUSE_MS);
  }
  const failures = answers.filter(({ status }) => status !== 200);
  const p99 = (what: string): number =>
    quantile(
      answers.filter((answer) => answer.what === what).map(({ ms }) => ms),
      0.99,
    );
  const [first] = failures;
  return {
    calls: answers.length,
    failed: failures.length,
    firstFailure: first ? `${first.what} ${first.status} ${first.code}`.trim() : '',
    chatP99Ms: p99('chat'),
    readP99Ms: p99('read'),
  };
}

/** Reads the longest stop of the API's event loop since it was read before, in milliseconds. */
export async function readLoopStop(internalUrl: string): Promise<number> {
  const response = await fetch(`${internalUrl}/metrics`, { signal: AbortSignal.timeout(60_000) });
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await response.text())?.[1];
  return Number(seconds ?? Number.NaN) * 1000;
}

/** Reads how many requests the API has shed so far, by reason. */
export async function readSheds(internalUrl: string): Promise<Map<string, number>> {
  const response = await fetch(`${internalUrl}/metrics`, { signal: AbortSignal.timeout(60_000) });
  const lines = (await response.text()).matchAll(/^svc_http_requests_shed_total\{reason="(\w+)"\} (\d+)$/gm);
  return new Map([...lines].map(([, reason = '', count]) => [reason, Number(count)]));
}

function chat(baseUrl: string, key: string): Promise<Timed> {
  const messages = [{ role: 'user', content: 'Say something. [[sandbox tokens=3]]' }];
  const body = JSON.stringify({ model: 'gpt-6-luna', max_tokens: 20, messages });
  return time('chat', `${baseUrl}/v1/chat/completions`, key, { method: 'POST', body });
}

function read(baseUrl: string, key: string): Promise<Timed> {
  return time('read', `${baseUrl}/v1/balance`, key, {});
}

/** Status 0: no answer in time, or a broken connection. */
async function time(what: string, url: string, key: string, init: RequestInit): Promise<Timed> {
  const startedAt = performance.now();
  let status = 0;
  let code = '';
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(ANSWER_WAIT_MS) });
    const text = await response.text();
    status = response.status;
    code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  } catch {
    status = 0;
  }
  return { what, status, code, ms: performance.now() - startedAt };
}
