/** Seedance on Volcengine Ark and BytePlus ModelArk: tasks that are listed, and a DELETE that stops or erases. */

import { randomBytes } from 'node:crypto';
import { type Answer, EarlyAnswer, json } from '../answers.ts';
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
import { bearerKey, readJsonObject, requireKey } from '../requests.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';
import { textsOf } from './content.ts';
import { checkOrder, type SeedanceOrder } from './order.ts';
import { frameOf } from './frames.ts';
import { seedanceVoice } from './error-format.ts';

const TASKS = '/api/v3/contents/generations/tasks';

export const seedance: Dialect = {
  vendor: 'seedance',
  prefix: '/ark',
  voice: seedanceVoice,
  routes: [
    { method: 'POST', path: TASKS, operation: 'submit', play: submit },
    { method: 'GET', path: TASKS, operation: 'other', play: list },
    { method: 'GET', path: `${TASKS}/{id}`, operation: 'poll', play: poll },
    { method: 'DELETE', path: `${TASKS}/{id}`, operation: 'cancel', play: remove },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const SECONDS = 2;
const FRAMES_PER_SECOND = 24;
/** As long as the sandbox takes every input video to be. */
const INPUT_VIDEO_SECONDS = 5;
const PAGE_SIZE_MAX = 500;

const FAILURES = {
  internal: { code: 'InternalServiceError', message: 'The video could not be generated.' },
  invalid: { code: 'InvalidParameter', message: 'The input image could not be decoded.' },
  quota: { code: 'AccountOverdueError', message: 'Your account has an overdue balance.' },
  concurrency: { code: 'QuotaExceeded', message: 'Too many tasks are in the queue of your account.' },
  moderation: {
    code: 'InputImageSensitiveContentDetected.PrivacyInformation',
    message: 'The input image may contain a real person.',
  },
} as const;
const MODERATED = {
  code: 'OutputVideoSensitiveContentDetected',
  message: 'The generated video may contain sensitive content.',
};

/** Their records are gone, as the vendor's are. */
const erased = new WeakSet<Job>();

function submit(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const prompt = textsOf(fields['content']);
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginSubmission(request, prompt);
  const order = checkOrder(request, fields);
  const tokens = tokensOf(order);
  const job = createJob(submission, {
    id: newId(),
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: { completion_tokens: tokens, total_tokens: tokens },
  });
  return confirmSubmission(submission, json(200, { id: job.id }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const look = lookAtJob(request, job);
  return json(
    200,
    look.weird ? { ...describe(job), status: 'simmering' } : tellTask(request, job, look.state),
  );
}

function list(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const { query } = request;
  const ids = query.getAll('filter.task_ids');
  const [model, status] = [query.get('filter.model'), query.get('filter.status')];
  const found = request.jobs.of(request.vendor).filter((job) => {
    return (
      !erased.has(job) &&
      (ids.length === 0 || ids.includes(job.id)) &&
      (model === null || job.ordered['model'] === model) &&
      (status === null || statusOf(request.jobs.stateOf(job)) === status)
    );
  });
  const size = Math.min(Number(query.get('page_size') ?? 20), PAGE_SIZE_MAX);
  const start = (Number(query.get('page_num') ?? 1) - 1) * size;
  const items = found
    .slice(start, start + size)
    .map((job) => tellTask(request, job, request.jobs.stateOf(job)));
  return json(200, { items, total: found.length });
}

function remove(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const order = nextOrders(request, job, 'cancel').choose('cancel');
  if (order === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (order === 'too_late' || phase === 'running') return request.voice.refuse(409);
  if (phase === 'queued') request.jobs.cancel(job);
  else erased.add(job);
  return json(200, {});
}

function requireTask(request: SandboxRequest): Job {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (erased.has(job)) throw new EarlyAnswer(request.voice.refuse(404));
  return job;
}

function tellTask(request: SandboxRequest, job: Job, state: JobState): object {
  const status = statusOf(state);
  const task = { ...describe(job), status };
  if (status === 'failed') return { ...task, error: tellError(job, state) };
  if (status !== 'succeeded') return task;
  const result = nextOrders(request, job, 'result').choose('result');
  const url = linkResult(request, result, `${seedance.prefix}/files/${job.id}.mp4`);
  return {
    ...task,
    content: job.deliver === 0 ? {} : { video_url: url },
    usage: tellUsage(job.consumption, job.usage),
  };
}

function describe(job: Job): object {
  const { model, seed, resolution, ratio, duration, generateAudio } = job.ordered;
  const createdAt = Math.floor(job.createdAtMs / 1000);
  return {
    ...{ id: job.id, model, error: null, seed, resolution, ratio, duration },
    ...{ framespersecond: FRAMES_PER_SECOND, created_at: createdAt, updated_at: createdAt },
    ...{ service_tier: 'default', execution_expires_after: 172_800 },
    ...(generateAudio === null ? {} : { generate_audio: generateAudio }),
  };
}

/** Moderation is a failure like any other. */
function statusOf({ phase }: JobState): string {
  return phase === 'moderated' ? 'failed' : phase;
}

function tellError(job: Job, { phase }: JobState): object {
  const { code, message } = phase === 'moderated' ? MODERATED : FAILURES[job.reason];
  return { code, message: wordError(message, job.text) };
}

/** One frame more than the seconds have; seconds of input videos count as well. */
function tokensOf({ model, resolution, ratio, duration, inputVideos }: SeedanceOrder): number {
  const [width, height] = frameOf(model, resolution, ratio);
  const frames = FRAMES_PER_SECOND * (duration + inputVideos * INPUT_VIDEO_SECONDS) + 1;
  return Math.floor((width * height * frames) / 1024);
}

function newId(): string {
  const at = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${at}-${randomBytes(8).toString('hex')}`;
}

function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const [width = 16, height = 9] = String(job.ordered['ratio']).split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}
