// Starts a sandbox for a test file, sends requests to the vendors it plays and reads its journal.

import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../sandbox/error-text.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the body is not a JSON object. */
  readonly body: Json;
}

/** Starts a sandbox before the tests of the surrounding block and closes it after them. */
export function useSandbox(): () => Sandbox {
  let sandbox: Sandbox | undefined;
  before(async () => {
    sandbox = await startSandbox({ port: 0, host: '127.0.0.1' });
  });
  after(async () => sandbox?.close());
  return () => {
    if (sandbox === undefined) throw new Error('The sandbox is not running yet.');
    return sandbox;
  };
}

/** A unique prompt with these directives; `marker` is the part of it that finds it in the journal. */
export function newPrompt(directives = ''): { prompt: string; marker: string } {
  const marker = `fox-${randomUUID()}`;
  return { prompt: `A ${marker} in the snow [[sandbox ${directives}]]`, marker };
}

export async function ask(
  url: string,
  options: {
    method?: string;
    key?: string | null;
    /** Headers in addition to the bearer key, or in its place. */
    headers?: Record<string, string>;
    body?: string | FormData | Json;
    signal?: AbortSignal;
  } = {},
): Promise<HttpAnswer> {
  const { method = 'GET', key = 'sk-test', body } = options;
  const proof = key === null ? {} : { authorization: `Bearer ${key}` };
  const headers: Record<string, string> = { ...proof, ...options.headers };
  const isRaw = body === undefined || typeof body === 'string' || body instanceof FormData;
  if (!isRaw) headers['content-type'] = 'application/json';
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: objectIn(text) };
}

/** Repeats `look` until it returns something; throws after 5 s. */
export async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  const giveUpAt = Date.now() + 5000;
  while (Date.now() < giveUpAt) {
    const value = await look();
    if (value !== undefined) return value;
    await pause(10);
  }
  throw new Error('It did not happen within 5 s.');
}

/** True where the connection breaks before the answer is complete. */
export async function isCutOff(asking: Promise<unknown>): Promise<boolean> {
  return asking.then(
    () => false,
    () => true,
  );
}

/** Reads an answer up to a number of bytes, then disconnects; returns the bytes read, fewer at its end. */
export function readAtLeast(url: string, bytes: number, post?: Json): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' };
    const asking = request(url, { method: post === undefined ? 'GET' : 'POST', headers }, (answer) => {
      let received = 0;
      answer.on('data', (piece: Buffer) => {
        received += piece.length;
        if (received < bytes) return;
        asking.destroy();
        resolve(received);
      });
      answer.on('end', () => resolve(received));
      answer.on('error', () => resolve(received));
    });
    asking.on('error', reject);
    asking.end(post === undefined ? undefined : JSON.stringify(post));
  });
}

/**
 * Polls until the status at `path` is `last`.
 * Returns the statuses in order, without repetitions, and the last answer.
 */
export async function followStatus(
  poll: () => Promise<HttpAnswer>,
  path: string,
  last: string,
): Promise<{ statuses: unknown[]; done: HttpAnswer }> {
  const statuses: unknown[] = [];
  const done = await eventually(async () => {
    const answer = await poll();
    expect(answer.status, answer.text).to.equal(200);
    const status = at(answer.body, path);
    if (statuses.at(-1) !== status) statuses.push(status);
    return status === last ? answer : undefined;
  });
  return { statuses, done };
}

/** Expects an error text with every internal detail of `text=leaky`. */
export function expectSensitive(text: unknown): void {
  for (const part of Object.values(SENSITIVE_PARTS)) expect(text).to.contain(part);
}

/** The value at a path such as `error.code` or `data.0.url`. */
export function at(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

export interface JournalEntry {
  readonly vendor: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly jobId: string | null;
  readonly status: number | null;
  readonly at: string;
  readonly clientClosedAt: string | null;
}

export async function readJournal(sandbox: Sandbox, marker: string): Promise<JournalEntry[]> {
  const response = await fetch(`${sandbox.url}/_journal?contains=${marker}`);
  const { entries } = (await response.json()) as { entries: JournalEntry[] };
  return entries;
}

export async function readJobs(sandbox: Sandbox, marker: string): Promise<Json[]> {
  const response = await fetch(`${sandbox.url}/_jobs?contains=${marker}`);
  const { jobs } = (await response.json()) as { jobs: Json[] };
  return jobs;
}

function objectIn(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
