// Creates the callers of the admission benches, each with a key, a session and a known number of credits.
import { createSession } from '../../db/identity/sessions.ts';
import { insertUser } from '../../db/identity/users.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { COMMAND_LINE } from '../../db/audit-log.ts';
import { grantCredits } from '../../db/identity/user-administration.ts';
import { forkEm, type Database } from '../../db/database.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { BenchSystem } from '../system.ts';

/** A measured answer: its status, its duration and the id of the task that it created. */
export interface Timed {
  status: number;
  ms: number;
  /** The id of the created task; null when none was created. */
  taskId: string | null;
}

/** What a caller needs to call, also from another thread. */
export interface CallerAccount {
  baseUrl: string;
  userId: string;
  key: string;
  sessionToken: string;
}

export class BenchCaller {
  readonly account: CallerAccount;

  constructor(account: CallerAccount) {
    this.account = account;
  }

  get userId(): string {
    return this.account.userId;
  }

  /** The session's cookie, for what a browser sends. */
  get sessionToken(): string {
    return this.account.sessionToken;
  }

  createImage(prompt: string): Promise<Timed> {
    return this.#post('/v1/images/generations', { model: 'gpt-image-2', prompt });
  }

  createVideo(prompt: string): Promise<Timed> {
    return this.#post('/v1/videos/generations', { model: 'grok-imagine-video', prompt });
  }

  readBalance(): Promise<Timed> {
    return this.#ask('/v1/balance', { headers: { authorization: `Bearer ${this.account.key}` } });
  }

  cancel(taskId: string): Promise<Timed> {
    return this.#ask(`/api/tasks/${taskId}`, {
      method: 'DELETE',
      headers: { cookie: `svc_session=${this.sessionToken}` },
    });
  }

  #post(path: string, body: object): Promise<Timed> {
    return this.#ask(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  async #ask(path: string, init: RequestInit): Promise<Timed> {
    const startedAt = performance.now();
    const response = await fetch(this.account.baseUrl + path, init);
    const body: unknown = await response.json();
    const ms = performance.now() - startedAt;
    return { status: response.status, ms, taskId: response.status === 202 ? findId(body) : null };
  }
}

/**
 * Creates an account with these credits, a key and a session. It has no usable password, because hashing
 * one takes long.
 */
export async function createBenchCaller(
  system: BenchSystem,
  database: Database,
  credits: MicroCredits,
): Promise<BenchCaller> {
  const em = forkEm(database);
  const email = `bench-${crypto.randomUUID()}@example.com`;
  const userId = await insertUser(em, { email, passwordHash: 'none', permissions: [] });
  if (userId === null) throw new Error('an account of the bench could not be created');
  if (credits > 0n) await grantCredits(em, COMMAND_LINE, { userId, credits, note: 'Bench credits' });
  const { key } = await createApiKey(em, system.secrets, { userId, name: 'Bench' });
  const sessionToken = await createSession(em, system.secrets, userId);
  return new BenchCaller({ baseUrl: system.baseUrl, userId, key, sessionToken });
}

/** Finds the id of a created task: image routes answer the object itself, video routes within `data`. */
function findId(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('id' in body && typeof body.id === 'string') return body.id;
  return 'data' in body ? findId(body.data) : null;
}
