// Vidu (ShengShu): an endpoint per kind of input, the price in the first answer, a cancel for queued tasks.

import { randomInt, randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job, JobState } from '../jobs.ts';
import { nextDirectives, pollJob, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, refuse, requireKey, textIn } from '../requests.ts';
import { linkJobResult, serveVideo } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { viduErrorFormat } from './error-format.ts';
import { checkViduOrder, type Endpoint, type ViduOrder } from './order.ts';

const ENDPOINTS: readonly Endpoint[] = ['text2video', 'img2video', 'start-end2video', 'reference2video'];

export const vidu: VendorApi = {
  vendor: 'vidu',
  prefix: '/vidu',
  errorFormat: viduErrorFormat,
  routes: [
    ...ENDPOINTS.map((endpoint) => ({
      method: 'POST' as const,
      path: `/ent/v2/${endpoint}`,
      operation: 'submit' as const,
      handle: (request: SandboxRequest) => generate(request, endpoint),
    })),
    { method: 'GET', path: '/ent/v2/tasks/{id}/creations', operation: 'poll', handle: poll },
    { method: 'POST', path: '/ent/v2/tasks/{id}/cancel', operation: 'cancel', handle: cancel },
    {
      method: 'GET',
      path: '/files/{id}.mp4',
      operation: 'download',
      handle: (request) => serveVideo(request, 'aspectRatio'),
    },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const BODY_BYTES_MAX = 20 * 1024 * 1024;

/** Credits per second by resolution; the second number is for off-peak jobs. */
type Prices = Readonly<Record<string, readonly [normal: number, offPeak: number]>>;
/** Of Q4, a third party's list without the discount of its first weeks. */
const Q4_PRICES: Prices = { '540p': [9, 9], '720p': [19, 19], '1080p': [24, 24] };
const PRICES: Readonly<Record<string, Prices>> = {
  'viduq3-pro': { '540p': [9, 5], '720p': [20, 10], '1080p': [24, 12] },
  'viduq3-turbo': { '540p': [7, 4], '720p': [11, 6], '1080p': [13, 7] },
  'viduq3-pro-fast': { '720p': [20, 10], '1080p': [25, 13] },
  'viduq4-preview': Q4_PRICES,
};
const REFERENCE_PRICES: Readonly<Record<string, Prices>> = {
  viduq3: { '540p': [7, 4], '720p': [12, 6], '1080p': [15, 7] },
  'viduq3-mix': { '720p': [24, 24], '1080p': [29, 29] },
  'viduq3-turbo': { '540p': [4, 2], '720p': [10, 5], '1080p': [13, 7] },
  'viduq4-preview': Q4_PRICES,
};
/** Price of models whose prices are not known here. */
const OTHER_PRICE = [10, 5] as const;

/** The `err_code` of each reason. */
const FAILURES = {
  internal: 'InternalServiceFailure',
  invalid: 'ImageDownloadFailure',
  quota: 'CreditInsufficient',
  concurrency: 'QuotaExceeded',
  moderation: 'TaskPromptPolicyViolation',
} as const;

function generate(request: SandboxRequest, endpoint: Endpoint): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, textIn(fields, 'prompt'), requireTokenAndSize);
  const order = checkViduOrder(request, fields, endpoint);
  const credits = creditsFor(order);
  const job = createJob(submission, {
    id: String(randomInt(1e11, 1e12)) + String(randomInt(1e6)),
    secondsByDefault: SECONDS_BY_DEFAULT,
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
  const polled = pollJob(request, job);
  // Vidu has no status for an expired task: it is unknown again.
  if (polled.state.phase === 'expired') return request.errorFormat.refuse(404, { text: job.text });
  const isDone = polled.state.phase === 'succeeded' && !polled.hasUnknownStatus;
  return json(200, {
    id: job.id,
    state: polled.hasUnknownStatus ? UNKNOWN_STATUS : statusOf(job, polled.state.phase),
    err_code: polled.hasUnknownStatus ? '' : errorCodeOf(job, polled.state.phase),
    ...credits(job),
    payload: '',
    creations: isDone ? creations(request, job) : [],
  });
}

function statusOf(job: Job, phase: JobState['phase']): string {
  if (phase === 'queued') return job.polls === 1 ? 'created' : 'queueing';
  if (phase === 'running') return 'processing';
  return phase === 'succeeded' ? 'success' : 'failed';
}

function errorCodeOf(job: Job, phase: JobState['phase']): string {
  if (phase === 'cancelled') return 'UserCancelled';
  if (phase === 'moderated') return 'CreationPolicyViolation';
  return phase === 'failed' ? errorText(FAILURES[job.reason], job.text) : '';
}

function credits(job: Job): Record<string, unknown> {
  const reported = reportUsage(job.consumption, job.usage);
  return typeof reported === 'object' ? reported : {};
}

function creations(request: SandboxRequest, job: Job): object[] {
  const url = linkJobResult(request, job, `${vidu.prefix}/files/${job.id}.mp4`);
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
  const directive = nextDirectives(request, job, 'cancel').choose('cancel');
  if (directive === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (phase !== 'queued' || directive === 'too_late') {
    const message = `task state ${statusOf(job, phase)} is not allowed to cancel`;
    return request.errorFormat.refuse(400, { message, text: job.text });
  }
  request.jobs.cancel(job);
  return json(200, {});
}

function creditsFor({ endpoint, model, resolution, duration, offPeak }: ViduOrder): number {
  const prices = endpoint === 'reference2video' ? REFERENCE_PRICES : PRICES;
  const [normal, cheap] = prices[model]?.[resolution] ?? OTHER_PRICE;
  return duration * (offPeak ? cheap : normal);
}

function requireTokenAndSize(request: SandboxRequest): void {
  requireKey(request, tokenOf(request));
  if (request.body.length > BODY_BYTES_MAX) refuse(request, 413);
}

/** Vidu's authorization scheme is `Token`; null for any other. */
function tokenOf(request: SandboxRequest): string | null {
  return /^Token +(\S+)$/.exec(request.req.headers.authorization ?? '')?.[1] ?? null;
}
