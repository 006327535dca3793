// Seedance on Volcengine Ark and BytePlus ModelArk: a list of tasks, and a DELETE that cancels or erases.

import { randomBytes } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job, JobState } from '../jobs.ts';
import { nextDirectives, pollJob, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, refuse, requireBearerKey } from '../requests.ts';
import { linkJobResult, serveVideo } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { textsOf } from './content.ts';
import { seedanceErrorFormat } from './error-format.ts';
import { frameOf } from './frames.ts';
import { checkOrder, type SeedanceOrder } from './order.ts';

const TASKS = '/api/v3/contents/generations/tasks';

export const seedance: VendorApi = {
  vendor: 'seedance',
  prefix: '/ark',
  errorFormat: seedanceErrorFormat,
  routes: [
    { method: 'POST', path: TASKS, operation: 'submit', handle: submit },
    { method: 'GET', path: TASKS, operation: 'other', handle: list },
    { method: 'GET', path: `${TASKS}/{id}`, operation: 'poll', handle: poll },
    { method: 'DELETE', path: `${TASKS}/{id}`, operation: 'cancel', handle: remove },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', handle: serveVideo },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const FRAMES_PER_SECOND = 24;
/** Assumed length of every input video, which the sandbox does not look at. */
const INPUT_VIDEO_SECONDS = 5;
/** Of all input videos together. */
const INPUT_VIDEO_SECONDS_TOTAL_MAX = 30;
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

/** Ended tasks that were erased; further requests about them answer 404, as at the vendor. */
const erased = new WeakSet<Job>();

function submit(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, textsOf(fields['content']));
  const order = checkOrder(request, fields);
  const tokens = tokensOf(order);
  const job = createJob(submission, {
    id: newId(),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: { completion_tokens: tokens, total_tokens: tokens },
  });
  return confirmSubmission(submission, json(200, { id: job.id }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const polled = pollJob(request, job);
  if (polled.hasUnknownStatus) return json(200, { ...describe(job), status: UNKNOWN_STATUS });
  return json(200, taskFields(request, job, polled.state));
}

function list(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const { query } = request;
  const ids = query.getAll('filter.task_ids');
  const [model, status] = [query.get('filter.model'), query.get('filter.status')];
  const found = request.jobs.listOf(request.vendor).filter((job) => {
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
    .map((job) => taskFields(request, job, request.jobs.stateOf(job)));
  return json(200, { items, total: found.length });
}

function remove(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const directive = nextDirectives(request, job, 'cancel').choose('cancel');
  if (directive === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (directive === 'too_late' || phase === 'running') return request.errorFormat.refuse(409);
  if (phase === 'queued') request.jobs.cancel(job);
  else erased.add(job);
  return json(200, {});
}

function requireTask(request: SandboxRequest): Job {
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (erased.has(job)) refuse(request, 404);
  return job;
}

function taskFields(request: SandboxRequest, job: Job, state: JobState): object {
  const status = statusOf(state);
  const task = { ...describe(job), status };
  if (status === 'failed') return { ...task, error: errorFields(job, state) };
  if (status !== 'succeeded') return task;
  const url = linkJobResult(request, job, `${seedance.prefix}/files/${job.id}.mp4`);
  return {
    ...task,
    content: job.deliver === 0 ? {} : { video_url: url },
    usage: reportUsage(job.consumption, job.usage),
  };
}

function describe(job: Job): object {
  const { model, seed, resolution, ratio, duration, generateAudio, safetyIdentifier } = job.ordered;
  const createdAt = Math.floor(job.createdAtMs / 1000);
  return {
    ...{ id: job.id, model, error: null, resolution, ratio, duration },
    ...(seed === null ? {} : { seed }),
    ...(safetyIdentifier === null ? {} : { safety_identifier: safetyIdentifier }),
    ...{ framespersecond: FRAMES_PER_SECOND, created_at: createdAt, updated_at: createdAt },
    ...{ service_tier: 'default', execution_expires_after: 172_800 },
    ...(generateAudio === null ? {} : { generate_audio: generateAudio }),
  };
}

/** Ark reports moderation as a failure. */
function statusOf({ phase }: JobState): string {
  return phase === 'moderated' ? 'failed' : phase;
}

function errorFields(job: Job, { phase }: JobState): object {
  const { code, message } = phase === 'moderated' ? MODERATED : FAILURES[job.reason];
  return { code, message: errorText(message, job.text) };
}

/** Counts one frame more than the seconds have, and the frames of input videos as well. */
function tokensOf({ model, resolution, ratio, duration, inputVideos }: SeedanceOrder): number {
  const [width, height] = frameOf(model, resolution, ratio);
  const inputSeconds = Math.min(inputVideos * INPUT_VIDEO_SECONDS, INPUT_VIDEO_SECONDS_TOTAL_MAX);
  const frames = FRAMES_PER_SECOND * (duration + inputSeconds) + 1;
  return Math.floor((width * height * frames) / 1024);
}

function newId(): string {
  const digits = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${digits}-${randomBytes(8).toString('hex')}`;
}
