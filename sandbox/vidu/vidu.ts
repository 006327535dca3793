/** Vidu (ShengShu): an endpoint for each kind of input, a price told at once, a cancellation that works in the queue. */

import { randomInt, randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { tellUsage } from '../evidence.ts';
import {
  beginSubmission,
  confirmSubmission,
  createJob,
  lookAtJob,
  nextOrders,
  requireJob,
} from '../faults.ts';
import type { Job, JobState } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { readJsonObject, requireKey } from '../requests.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';
import { checkViduOrder, type Endpoint, type ViduOrder } from './order.ts';
import { viduVoice } from './error-format.ts';

const ENDPOINTS: readonly Endpoint[] = ['text2video', 'img2video', 'start-end2video', 'reference2video'];

export const vidu: Dialect = {
  vendor: 'vidu',
  prefix: '/vidu',
  voice: viduVoice,
  routes: [
    ...ENDPOINTS.map((endpoint) => ({
      method: 'POST' as const,
      path: `/ent/v2/${endpoint}`,
      operation: 'submit' as const,
      play: (request: SandboxRequest) => generate(request, endpoint),
    })),
    { method: 'GET', path: '/ent/v2/tasks/{id}/creations', operation: 'poll', play: poll },
    { method: 'POST', path: '/ent/v2/tasks/{id}/cancel', operation: 'cancel', play: cancel },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const SECONDS = 2;
const BODY_BYTES_MAX = 20 * 1024 * 1024;

/** Credits per second by resolution; the second number is for off-peak jobs. */
type Prices = Readonly<Record<string, readonly [normal: number, offPeak: number]>>;
const PRICES: Readonly<Record<string, Prices>> = {
  'viduq3-pro': { '540p': [9, 5], '720p': [20, 10], '1080p': [24, 12] },
  'viduq3-turbo': { '540p': [7, 4], '720p': [11, 6], '1080p': [13, 7] },
  'viduq3-pro-fast': { '720p': [20, 10], '1080p': [25, 13] },
};
const REFERENCE_PRICES: Readonly<Record<string, Prices>> = {
  viduq3: { '540p': [7, 4], '720p': [12, 6], '1080p': [15, 7] },
  'viduq3-mix': { '720p': [24, 24], '1080p': [29, 29] },
  'viduq3-turbo': { '540p': [4, 2], '720p': [10, 5], '1080p': [13, 7] },
};
/** Of models whose prices are not known here. */
const OTHER_PRICE = [10, 5] as const;

/** Words of `err_code`. */
const FAILURES = {
  internal: 'InternalServiceFailure',
  invalid: 'ImageDownloadFailure',
  quota: 'CreditInsufficient',
  concurrency: 'QuotaExceeded',
  moderation: 'TaskPromptPolicyViolation',
} as const;

function generate(request: SandboxRequest, endpoint: Endpoint): Answer {
  const fields = readJsonObject(request);
  const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : '';
  request.entry.prompt = prompt;
  requireKey(request, tokenOf(request));
  if (request.body.length > BODY_BYTES_MAX) return request.voice.refuse(413);
  const submission = beginSubmission(request, prompt);
  const order = checkViduOrder(request, fields, endpoint);
  const credits = creditsFor(order);
  const job = createJob(submission, {
    id: String(randomInt(1e11, 1e12)) + String(randomInt(1e6)),
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: { credits },
  });
  const created = {
    ...fields,
    state: 'created',
    credits,
    created_at: new Date(job.createdAtMs).toISOString(),
  };
  return confirmSubmission(submission, json(200, { task_id: job.id, ...created }), json(200, created));
}

function poll(request: SandboxRequest): Answer {
  requireKey(request, tokenOf(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const look = lookAtJob(request, job);
  // There is no word for a job that expired: it is gone.
  if (look.state.phase === 'expired') return request.voice.refuse(404, { text: job.text });
  const isDone = look.state.phase === 'succeeded' && !look.weird;
  return json(200, {
    id: job.id,
    state: look.weird ? 'simmering' : stateWord(job, look.state.phase),
    err_code: look.weird ? '' : failureWord(job, look.state.phase),
    ...credits(job),
    payload: '',
    creations: isDone ? creations(request, job) : [],
  });
}

function stateWord(job: Job, phase: JobState['phase']): string {
  if (phase === 'queued') return job.looks === 1 ? 'created' : 'queueing';
  if (phase === 'running') return 'processing';
  return phase === 'succeeded' ? 'success' : 'failed';
}

function failureWord(job: Job, phase: JobState['phase']): string {
  if (phase === 'cancelled') return 'UserCancelled';
  if (phase === 'moderated') return 'CreationPolicyViolation';
  return phase === 'failed' ? wordError(FAILURES[job.reason], job.text) : '';
}

function credits(job: Job): Record<string, unknown> {
  const told = tellUsage(job.consumption, job.usage);
  return typeof told === 'object' ? told : {};
}

function creations(request: SandboxRequest, job: Job): object[] {
  const result = nextOrders(request, job, 'result').choose('result');
  const url = linkResult(request, result, `${vidu.prefix}/files/${job.id}.mp4`);
  const cover = `${request.origin}${vidu.prefix}/files/${job.id}.jpg`;
  return Array.from({ length: job.deliver ?? 1 }, () => ({
    id: randomUUID(),
    url,
    cover_url: cover,
    watermarked_url: url,
  }));
}

function cancel(request: SandboxRequest): Answer {
  requireKey(request, tokenOf(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const orders = nextOrders(request, job, 'cancel').choose('cancel');
  if (orders === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (phase !== 'queued' || orders === 'too_late') {
    const message = `task state ${stateWord(job, phase)} is not allowed to cancel`;
    return request.voice.refuse(400, { message, text: job.text });
  }
  request.jobs.cancel(job);
  return json(200, {});
}

function creditsFor({ endpoint, model, resolution, duration, offPeak }: ViduOrder): number {
  const prices = endpoint === 'reference2video' ? REFERENCE_PRICES : PRICES;
  const [normal, cheap] = prices[model]?.[resolution] ?? OTHER_PRICE;
  return duration * (offPeak ? cheap : normal);
}

function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const [width = 16, height = 9] = (String(job.ordered['aspectRatio']) || '16:9').split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}

/** The scheme is Token, and nothing else. */
function tokenOf(request: SandboxRequest): string | undefined {
  return /^Token +(\S+)$/.exec(request.req.headers.authorization ?? '')?.[1];
}
