// Grok Imagine video (xAI): a request id, polls that answer 202 until the video is done, a public result URL.

import { randomUUID } from 'node:crypto';
import { type Answer, json, whole } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job } from '../jobs.ts';
import { pollJob, type PollResult, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, requireBearerKey, textIn } from '../requests.ts';
import { linkJobResult, serveVideo } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { grokErrorFormat } from './error-format.ts';
import { checkVideoOrder, type VideoOrder } from './video-order.ts';

export const grokVideo: VendorApi = {
  vendor: 'grok',
  prefix: '/xai',
  errorFormat: grokErrorFormat,
  routes: [
    { method: 'POST', path: '/v1/videos/generations', operation: 'submit', handle: generate },
    { method: 'GET', path: '/v1/videos/{id}', operation: 'poll', handle: poll },
    {
      method: 'GET',
      path: '/files/{id}.mp4',
      operation: 'download',
      handle: (request) => serveVideo(request, 'aspectRatio'),
    },
  ],
};

const SECONDS_BY_DEFAULT = 2;

/** A tick is a ten-thousand-millionth of a dollar. */
const TICKS_PER_THOUSANDTH = 10_000_000;

/** Thousandths of a dollar: per second by resolution, and per input image. */
const PRICES: Readonly<Record<string, { perSecond: Readonly<Record<string, number>>; perImage: number }>> = {
  'grok-imagine-video': { perSecond: { '480p': 50, '720p': 70 }, perImage: 2 },
  'grok-imagine-video-1.5': { perSecond: { '480p': 80, '720p': 140, '1080p': 250 }, perImage: 10 },
  'grok-imagine-video-1.5-preview': { perSecond: { '480p': 80, '720p': 140, '1080p': 250 }, perImage: 10 },
  // The price of 1080p is not published; the price of 720p stands in for it.
  'grok-imagine-video-1.5-lite': { perSecond: { '480p': 20, '720p': 30, '1080p': 30 }, perImage: 10 },
};

const FAILURES = {
  internal: { code: 'internal_error', message: 'The video could not be generated.' },
  invalid: { code: 'invalid_argument', message: 'The input image could not be decoded.' },
  quota: { code: 'failed_precondition', message: 'The team has no credits left.' },
  concurrency: { code: 'service_unavailable', message: 'Too many videos are being generated.' },
  moderation: { code: 'permission_denied', message: 'The content violates the usage guidelines.' },
} as const;

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, textIn(fields, 'prompt'));
  const order = checkVideoOrder(request, fields);
  const job = createJob(submission, {
    id: randomUUID(),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: { cost_in_usd_ticks: costInTicks(order) },
  });
  return confirmSubmission(submission, json(200, { request_id: job.id }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const polled = pollJob(request, job);
  const { model } = job.ordered;
  if (polled.hasUnknownStatus) return json(200, { status: UNKNOWN_STATUS, progress: polled.progress, model });
  switch (polled.state.phase) {
    case 'queued':
    case 'running':
      return pendingAnswer(job, polled);
    case 'succeeded':
    case 'moderated':
      return json(200, { ...doneFields(request, job, polled.state.phase === 'succeeded'), model });
    case 'expired':
      return json(200, { status: 'expired', progress: 0, model });
    case 'failed':
    case 'cancelled':
      return json(200, { ...failureFields(job, polled), model });
  }
}

/** Answers the first poll with an empty body, as xAI may do with a 202. */
function pendingAnswer(job: Job, polled: PollResult): Answer {
  if (job.polls === 1 && !polled.isFlapping) return whole(202, 'application/json', '');
  return json(202, { status: 'pending', progress: polled.progress });
}

/** A moderated video is done and charged, but has no URL. */
function doneFields(request: SandboxRequest, job: Job, isAllowed: boolean): Record<string, unknown> {
  const url = isAllowed ? linkJobResult(request, job, `${grokVideo.prefix}/files/${job.id}.mp4`) : '';
  const video = { url, duration: job.ordered['duration'], respect_moderation: isAllowed };
  return {
    status: 'done',
    progress: 100,
    video: job.deliver === 0 ? undefined : video,
    usage: reportUsage(job.consumption, job.usage),
  };
}

function failureFields(job: Job, polled: PollResult): Record<string, unknown> {
  const cancelled = { code: 'failed_precondition', message: 'The request was cancelled.' };
  const { code, message } = polled.state.phase === 'cancelled' ? cancelled : FAILURES[job.reason];
  return {
    status: 'failed',
    progress: 0,
    error: { code, message: errorText(message, job.text) },
    block_reason: code === 'permission_denied' ? 'content_moderation' : undefined,
  };
}

function costInTicks({ model, resolution, duration, inputImages }: VideoOrder): number {
  const price = PRICES[model];
  const perSecond = price?.perSecond[resolution] ?? 0;
  return (perSecond * duration + (price?.perImage ?? 0) * inputImages) * TICKS_PER_THOUSANDTH;
}
