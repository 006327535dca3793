/** What both APIs of Kling share: accounts, ids, prices in units, and the words for a failure. */

import { createHash, randomInt } from 'node:crypto';
import { type Answer, EarlyAnswer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import { tellUsage } from '../evidence.ts';
import { type Look, nextOrders, requireJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, isFields, requireKey } from '../requests.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';

export interface KlingOrder {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: '720p' | '1080p' | '4k';
  readonly ratio: string;
  readonly audio: boolean;
  readonly inputImages: number;
  readonly inputVideos: number;
  readonly externalId: string | undefined;
}

const SECONDS = 2;

/** In tenths of a unit for each second: silent, with sound, with an input video. */
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

/** Who is calling: the key itself, or the access key in a token, which must be of its time. */
export function requireAccount(request: SandboxRequest): string {
  const key = bearerKey(request);
  requireKey(request, key);
  const claims = claimsIn(key ?? '');
  if (claims === undefined) return key ?? '';
  const nowSeconds = Date.now() / 1000;
  if (Number(claims['exp']) <= nowSeconds) refuseToken(request, '1004', 'Authorization has expired');
  if (Number(claims['nbf']) > nowSeconds) refuseToken(request, '1003', 'Authorization is not yet valid');
  return String(claims['iss']);
}

/** An id that follows from the customer's own, which is how a second order of the same one is found out. */
export function taskIdOf(account: string, externalId: string): string {
  const hash = createHash('sha256').update(`${account} ${externalId}`).digest().readBigUInt64BE(0);
  return String(hash % 900_000_000_000_000_000n).padStart(18, '8');
}

export function newTaskId(request: SandboxRequest, account: string, externalId: string | undefined): string {
  if (externalId === undefined) return `9${String(randomInt(2 ** 47)).padStart(17, '0')}`;
  const id = taskIdOf(account, externalId);
  if (request.jobs.find(request.vendor, id) !== undefined) {
    throw new EarlyAnswer(
      request.voice.refuse(400, { message: `External task id ${externalId} already exists` }),
    );
  }
  return id;
}

/** What `createJob` needs to know. */
export function planOf(id: string, order: KlingOrder, kind: string) {
  const tenths = PRICES[order.model]?.[order.resolution] ?? [];
  const perSecond = tenths[order.inputVideos > 0 ? 2 : order.audio ? 1 : 0] ?? 0;
  const { externalId, ...rest } = order;
  return {
    id,
    secondsByDefault: SECONDS,
    ordered: { ...rest, kind, externalId: externalId ?? null },
    consumption: { units: (perSecond * order.seconds) / 10 },
  };
}

/** Units as a text, true or not; undefined where nothing is said. */
export function unitsOf(job: Job): string | undefined {
  const told = tellUsage(job.consumption, job.usage);
  const units = isFields(told) ? told['units'] : undefined;
  return typeof units === 'number' || typeof units === 'string' ? String(units) : undefined;
}

export function wordFailure(job: Job, look: Look): string {
  const message =
    look.state.phase === 'cancelled'
      ? 'The task was cancelled.'
      : FAILURES[look.state.phase === 'moderated' ? 'moderation' : job.reason];
  return wordError(message, job.text);
}

/** One link for each video that is delivered. A video is a little longer than it was ordered. */
export function linkVideos(
  request: SandboxRequest,
  job: Job,
): { url: string | undefined; duration: string }[] {
  const result = nextOrders(request, job, 'result').choose('result');
  const url = linkResult(request, result, `/kling/files/${job.id}.mp4`);
  const duration = (Number(job.ordered['seconds']) + 0.041).toFixed(3);
  return Array.from({ length: job.deliver ?? 1 }, () => ({ url, duration }));
}

export function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const [width = 16, height = 9] = String(job.ordered['ratio']).split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}

/** Undefined for what is no token. */
function claimsIn(key: string): Record<string, unknown> | undefined {
  const parts = key.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const [header, claims]: unknown[] = parts
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    return isFields(header) && header['alg'] === 'HS256' && isFields(claims) ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}

function refuseToken(request: SandboxRequest, code: string, message: string): never {
  throw new EarlyAnswer(request.voice.refuse(401, { code, message }));
}
