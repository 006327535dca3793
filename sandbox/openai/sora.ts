// OpenAI's Videos API (Sora): a video object that is polled and listed; downloading it needs the key.

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job, JobState } from '../jobs.ts';
import { nextDirectives, pollJob, type PollResult, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { requireBearerKey, textIn } from '../requests.ts';
import { imageFile, linkResult, serveResult, videoFile } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { openaiErrorFormat } from './error-format.ts';
import { checkSoraOrder, readSoraRequest } from './sora-order.ts';

export const sora: VendorApi = {
  vendor: 'sora',
  prefix: '/openai',
  errorFormat: openaiErrorFormat,
  routes: [
    { method: 'POST', path: '/v1/videos', operation: 'submit', handle: generate },
    { method: 'GET', path: '/v1/videos', operation: 'other', handle: list },
    { method: 'GET', path: '/v1/videos/{id}', operation: 'poll', handle: poll },
    { method: 'GET', path: '/v1/videos/{id}/content', operation: 'download', handle: download },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const DOWNLOADABLE_SECONDS = 3_600;
const PAGE_SIZE_BY_DEFAULT = 20;
const PAGE_SIZE_MAX = 100;
const VARIANTS = ['video', 'thumbnail', 'spritesheet'];

const STATUS: Readonly<Record<JobState['phase'], string>> = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  moderated: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
};

const FAILURES = {
  internal: { code: 'internal_error', message: 'The video could not be generated.' },
  invalid: { code: 'invalid_reference', message: 'The reference could not be used.' },
  quota: { code: 'insufficient_quota', message: 'You exceeded your current quota.' },
  concurrency: { code: 'concurrency_limit', message: 'Too many videos are being generated at once.' },
  moderation: { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' },
} as const;

async function generate(request: SandboxRequest): Promise<Answer> {
  const fields = await readSoraRequest(request);
  const submission = beginSubmission(request, textIn(fields, 'prompt'));
  const order = checkSoraOrder(request, fields);
  const job = createJob(submission, {
    id: `video_${randomUUID().replaceAll('-', '')}`,
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: { seconds: Number(order.seconds) },
  });
  const video = describe(job, { phase: 'queued', progress: 0 });
  return confirmSubmission(submission, json(200, video), json(200, { object: 'video' }));
}

function poll(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const polled = pollJob(request, job);
  return json(200, {
    ...describe(job, polled.state),
    ...directedFields(polled),
    ...linkOf(request, job, polled),
  });
}

/** The job as a video object, the same on creation, in a poll and in a list. */
function describe(job: Job, { phase, progress }: JobState): Record<string, unknown> {
  const createdAt = Math.floor(job.createdAtMs / 1000);
  const isDone = phase === 'succeeded';
  const completedAt = createdAt + Math.ceil(job.seconds);
  const reported = isDone ? reportUsage(job.consumption, job.usage) : job.consumption;
  return {
    id: job.id,
    object: 'video',
    created_at: createdAt,
    status: STATUS[phase],
    model: job.ordered['model'],
    prompt: job.prompt,
    progress: isDone ? 100 : progress,
    // A text, even for distorted usage.
    seconds: reported === undefined ? undefined : String(Object.values(reported)[0]),
    size: job.ordered['size'],
    completed_at: isDone ? completedAt : null,
    expires_at: isDone ? completedAt + DOWNLOADABLE_SECONDS : null,
    error: errorOf(job, phase),
    remixed_from_video_id: null,
  };
}

function errorOf(job: Job, phase: JobState['phase']): { code: string; message: string } | null {
  if (phase !== 'failed' && phase !== 'moderated') return null;
  const { code, message } = FAILURES[phase === 'moderated' ? 'moderation' : job.reason];
  return { code, message: errorText(message, job.text) };
}

function directedFields({
  state,
  hasUnknownStatus,
  isFlapping,
  progress,
}: PollResult): Record<string, unknown> {
  if (hasUnknownStatus) return { status: UNKNOWN_STATUS };
  const isUnderWay = state.phase === 'queued' || state.phase === 'running';
  return isFlapping && isUnderWay ? { status: 'in_progress', progress } : {};
}

/** OpenAI gives no link, but resellers do; with `result=private` one to a private address. */
function linkOf(
  request: SandboxRequest,
  job: Job,
  { state, hasUnknownStatus }: PollResult,
): Record<string, unknown> {
  if (state.phase !== 'succeeded' || hasUnknownStatus) return {};
  const result = nextDirectives(request, job, 'result').choose('result');
  return result === 'private' ? { video_url: linkResult(request, result, `/${job.id}.mp4`) } : {};
}

/** Lists newest first. Does not count as a poll, so that the directives of polls do not apply. */
function list(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const limit = Number(request.query.get('limit') ?? PAGE_SIZE_BY_DEFAULT);
  if (!Number.isInteger(limit) || limit < 0 || limit > PAGE_SIZE_MAX)
    return request.errorFormat.refuse(400, {
      field: 'limit',
      message: `limit must be from 0 to ${PAGE_SIZE_MAX}.`,
    });
  const newestFirst = request.jobs.listOf(request.vendor);
  const jobs = request.query.get('order') === 'asc' ? newestFirst.toReversed() : newestFirst;
  const after = request.query.get('after');
  const from = after === null ? 0 : jobs.findIndex(({ id }) => id === after) + 1;
  const page = jobs.slice(from, from + limit);
  return json(200, {
    object: 'list',
    data: page.map((job) => describe(job, request.jobs.stateOf(job))),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: from + limit < jobs.length,
  });
}

/** Answers 404 with `deliver=0` and `result=missing`. */
function download(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const variant = request.query.get('variant') ?? 'video';
  if (!VARIANTS.includes(variant)) return request.errorFormat.refuse(400, { field: 'variant' });
  if (request.jobs.stateOf(job).phase !== 'succeeded')
    return request.errorFormat.refuse(400, {
      message: 'Video is not ready yet, use GET /v1/videos/{video_id} to check.',
    });
  const isMissing = job.directives.at(1).choose('result') === 'missing';
  if (job.deliver === 0 || isMissing) return request.errorFormat.refuse(404, { text: job.text });
  const [width = 16, height = 9] = String(job.ordered['size']).split('x').map(Number);
  if (variant === 'video') return serveResult(request, job, videoFile(width, height));
  const format = variant === 'thumbnail' ? 'webp' : 'jpeg';
  return serveResult(request, job, imageFile(job, 0, { width, height, format, transparent: false }));
}
