/** A sandbox for each test file, and clients of the vendors it plays. */

import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the body is not a JSON object. */
  readonly body: Json;
}

/** Starts one before the tests of the surrounding block and stops it after them. */
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

/** A prompt nobody else uses: `marker` finds it in the journal. */
export function newPrompt(directives = ''): { prompt: string; marker: string } {
  const marker = `fox-${randomUUID()}`;
  return { prompt: `A ${marker} in the snow [[sandbox ${directives}]]`, marker };
}

export async function ask(
  url: string,
  options: {
    method?: string;
    key?: string | null;
    /** Beside, or instead of, the bearer key. */
    headers?: Record<string, string>;
    body?: string | FormData | Json;
    signal?: AbortSignal;
  } = {},
): Promise<Heard> {
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

export async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  const giveUpAt = Date.now() + 5000;
  while (Date.now() < giveUpAt) {
    const value = await look();
    if (value !== undefined) return value;
    await pause(10);
  }
  throw new Error('It did not happen within 5 s.');
}

/** Whether the connection broke before a complete answer came. */
export async function breaks(asking: Promise<unknown>): Promise<boolean> {
  return asking.then(
    () => false,
    () => true,
  );
}

/** Reads an answer until it has this many bytes, then goes. */
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

/** The value at a path such as `error.code` or `data.0.url`. */
export function at(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

export interface Entry {
  readonly vendor: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly jobId: string | null;
  readonly status: number | null;
  readonly at: string;
  readonly clientClosedAt: string | null;
}

export async function readJournal(sandbox: Sandbox, marker: string): Promise<Entry[]> {
  const response = await fetch(`${sandbox.url}/_journal?contains=${marker}`);
  const { entries } = (await response.json()) as { entries: Entry[] };
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
