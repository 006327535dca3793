/** Grok Imagine video (xAI): a request id, a poll that answers 202 while it works, a public result URL. */

import { randomUUID } from 'node:crypto';
import { type Answer, json, whole } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { tellUsage } from '../evidence.ts';
import {
  beginSubmission,
  confirmSubmission,
  createJob,
  type Look,
  lookAtJob,
  nextOrders,
  requireJob,
} from '../faults.ts';
import type { Job } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, readJsonObject, requireKey } from '../requests.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';
import { checkVideoOrder, type VideoOrder } from './video-order.ts';
import { grokVoice } from './error-format.ts';

export const grokVideo: Dialect = {
  vendor: 'grok',
  prefix: '/xai',
  voice: grokVoice,
  routes: [
    { method: 'POST', path: '/v1/videos/generations', operation: 'submit', play: generate },
    { method: 'GET', path: '/v1/videos/{id}', operation: 'poll', play: poll },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const SECONDS = 2;

/** A ten-thousand-millionth of a dollar. */
const TICKS_PER_THOUSANDTH = 10_000_000;

/** In thousandths of a dollar: per second by resolution, and per input image. */
const PRICES: Readonly<Record<string, { perSecond: Readonly<Record<string, number>>; perImage: number }>> = {
  'grok-imagine-video': { perSecond: { '480p': 50, '720p': 70 }, perImage: 2 },
  'grok-imagine-video-1.5': { perSecond: { '480p': 80, '720p': 140, '1080p': 250 }, perImage: 10 },
  'grok-imagine-video-1.5-preview': { perSecond: { '480p': 80, '720p': 140, '1080p': 250 }, perImage: 10 },
  // The price of 1080p is not published: that of 720p stands in for it.
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
  const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : '';
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginSubmission(request, prompt);
  const order = checkVideoOrder(request, fields);
  const job = createJob(submission, {
    id: randomUUID(),
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: { cost_in_usd_ticks: costInTicks(order) },
  });
  return confirmSubmission(submission, json(200, { request_id: job.id }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const look = lookAtJob(request, job);
  const { model } = job.ordered;
  if (look.weird) return json(200, { status: 'simmering', progress: look.progress, model });
  switch (look.state.phase) {
    case 'queued':
    case 'running':
      return tellPending(job, look);
    case 'succeeded':
    case 'moderated':
      return json(200, { ...tellDone(request, job, look.state.phase === 'succeeded'), model });
    case 'expired':
      return json(200, { status: 'expired', progress: 0, model });
    case 'failed':
    case 'cancelled':
      return json(200, { ...tellFailure(job, look), model });
  }
}

/** The body of a 202 may be empty: it is on the first look. */
function tellPending(job: Job, look: Look): Answer {
  if (job.looks === 1 && !look.flapping) {
    return whole(202, 'application/json', '');
  }
  return json(202, { status: 'pending', progress: look.progress });
}

/** A moderated video is done, and paid, but not to be had. What is undefined here is absent from the JSON. */
function tellDone(request: SandboxRequest, job: Job, allowed: boolean): Record<string, unknown> {
  const url = allowed ? linkVideo(request, job) : '';
  const video = { url, duration: job.ordered['duration'], respect_moderation: allowed };
  return {
    status: 'done',
    progress: 100,
    video: job.deliver === 0 ? undefined : video,
    usage: tellUsage(job.consumption, job.usage),
  };
}

function linkVideo(request: SandboxRequest, job: Job): string | undefined {
  const result = nextOrders(request, job, 'result').choose('result');
  return linkResult(request, result, `${grokVideo.prefix}/files/${job.id}.mp4`);
}

function tellFailure(job: Job, look: Look): Record<string, unknown> {
  const cancelled = { code: 'failed_precondition', message: 'The request was cancelled.' };
  const { code, message } = look.state.phase === 'cancelled' ? cancelled : FAILURES[job.reason];
  return {
    status: 'failed',
    progress: 0,
    error: { code, message: wordError(message, job.text) },
    block_reason: code === 'permission_denied' ? 'content_moderation' : undefined,
  };
}

function costInTicks({ model, resolution, duration, inputImages }: VideoOrder): number {
  const price = PRICES[model];
  const perSecond = price?.perSecond[resolution] ?? 0;
  return (perSecond * duration + (price?.perImage ?? 0) * inputImages) * TICKS_PER_THOUSANDTH;
}

function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const [width = 16, height = 9] = String(job.ordered['aspectRatio']).split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}
