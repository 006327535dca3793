// What Kling's two APIs have in common: accounts, task ids, prices in units, failure texts and links.

import { createHash, randomInt } from 'node:crypto';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job } from '../jobs.ts';
import type { PollResult } from '../polling.ts';
import { bearerKey, isFields, refuse, requireKey } from '../requests.ts';
import { linkJobResult } from '../results.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface KlingOrder {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: '720p' | '1080p' | '4k';
  readonly ratio: string;
  readonly audio: boolean;
  readonly inputImages: number;
  readonly inputVideos: number;
  /** The customer's own id for the task, or null. */
  readonly externalId: string | null;
}

const SECONDS_BY_DEFAULT = 2;

/** Tenths of a unit per second: silent, with sound, with an input video. */
const PRICES: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  'kling-v2-5-turbo': { '720p': [3], '1080p': [5] },
  'kling-v2-6': { '720p': [3], '1080p': [5, 10] },
  'kling-3.0': { '720p': [6, 9], '1080p': [8, 12], '4k': [30, 30] },
  'kling-3.0-turbo': { '720p': [8, 8], '1080p': [10, 10] },
  'kling-3.0-omni': { '720p': [6, 8, 9], '1080p': [8, 10, 12], '4k': [30, 30, 30] },
};

const FAILURES = {
  internal: 'The video could not be generated.',
  invalid: 'The image format is not supported.',
  quota: 'Account balance not enough.',
  concurrency: 'Parallel task over resource pack limit.',
  moderation: 'Failure to pass the risk control system.',
} as const;

/** Identifies the account: by the key itself, or by the access key in a token that is valid now. */
export function requireAccount(request: SandboxRequest, takesTokens = true): string {
  const key = bearerKey(request);
  requireKey(request, key);
  const claims = claimsIn(key ?? '');
  if (claims === null) return key ?? '';
  if (!takesTokens) refuseToken(request, '1002', 'current API does not support AK/SK');
  const nowSeconds = Date.now() / 1000;
  if (Number(claims['exp']) <= nowSeconds) refuseToken(request, '1004', 'Authorization has expired');
  if (Number(claims['nbf']) > nowSeconds) refuseToken(request, '1003', 'Authorization is not yet valid');
  return String(claims['iss']);
}

/** Derives a task's id from the customer's own id, which is how a second order with that id is detected. */
export function taskIdOf(account: string, externalId: string): string {
  const hash = createHash('sha256').update(`${account} ${externalId}`).digest().readBigUInt64BE(0);
  return String(hash % 900_000_000_000_000_000n).padStart(18, '8');
}

export function newTaskId(request: SandboxRequest, account: string, externalId: string | null): string {
  if (externalId === null) return `9${String(randomInt(2 ** 47)).padStart(17, '0')}`;
  const id = taskIdOf(account, externalId);
  if (request.jobs.find(request.vendor, id) !== null) {
    refuse(request, 400, { message: `External task id ${externalId} already exists` });
  }
  return id;
}

/** The job's plan for `createJob`. */
export function planOf(id: string, order: KlingOrder, kind: string) {
  const tenths = PRICES[order.model]?.[order.resolution] ?? [];
  const perSecond = tenths[order.inputVideos > 0 ? 2 : order.audio ? 1 : 0] ?? 0;
  return {
    id,
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order, kind },
    consumption: { units: (perSecond * order.seconds) / 10 },
  };
}

/** Charged units as a text, true or distorted; undefined, which JSON omits, with `usage=missing`. */
export function unitsOf(job: Job): string | undefined {
  const reported = reportUsage(job.consumption, job.usage);
  const units = isFields(reported) ? reported['units'] : undefined;
  return typeof units === 'number' || typeof units === 'string' ? String(units) : undefined;
}

export function failureText(job: Job, polled: PollResult): string {
  const message =
    polled.state.phase === 'cancelled'
      ? 'The task was cancelled.'
      : FAILURES[polled.state.phase === 'moderated' ? 'moderation' : job.reason];
  return errorText(message, job.text);
}

/** One link for each delivered video. As at the vendor, a video is a little longer than ordered. */
export function linkVideos(
  request: SandboxRequest,
  job: Job,
): { url: string | undefined; duration: string }[] {
  const url = linkJobResult(request, job, `/kling/files/${job.id}.mp4`);
  const duration = (Number(job.ordered['seconds']) + 0.041).toFixed(3);
  return Array.from({ length: job.deliver ?? 1 }, () => ({ url, duration }));
}

/** Null for a key that is no token. */
function claimsIn(key: string): Record<string, unknown> | null {
  const parts = key.split('.');
  if (parts.length !== 3) return null;
  try {
    const [header, claims]: unknown[] = parts
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    return isFields(header) && header['alg'] === 'HS256' && isFields(claims) ? { ...claims } : null;
  } catch {
    return null;
  }
}

function refuseToken(request: SandboxRequest, code: string, message: string): never {
  refuse(request, 401, { code, message });
}
