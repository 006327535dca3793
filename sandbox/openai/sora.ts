/** OpenAI's Videos API (Sora): a video object that is polled and listed, and its bytes behind the key. */

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
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
import type { Job, JobState } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, requireKey } from '../requests.ts';
import { imageFile, linkResult, serveResult, videoFile } from '../results.ts';
import { openaiVoice } from './error-format.ts';
import { checkSoraOrder, readSoraRequest } from './sora-order.ts';

export const sora: Dialect = {
  vendor: 'sora',
  prefix: '/openai',
  voice: openaiVoice,
  routes: [
    { method: 'POST', path: '/v1/videos', operation: 'submit', play: generate },
    { method: 'GET', path: '/v1/videos', operation: 'other', play: list },
    { method: 'GET', path: '/v1/videos/{id}', operation: 'poll', play: poll },
    { method: 'GET', path: '/v1/videos/{id}/content', operation: 'download', play: download },
  ],
};

const SECONDS = 2;
const DOWNLOADABLE_SECONDS = 3_600;
const LIST_BY_DEFAULT = 20;
const LIST_MAX = 100;
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
  const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : '';
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginSubmission(request, prompt);
  const order = checkSoraOrder(request, fields);
  const job = createJob(submission, {
    id: `video_${randomUUID().replaceAll('-', '')}`,
    secondsByDefault: SECONDS,
    ordered: { ...order },
    consumption: { seconds: Number(order.seconds) },
  });
  const video = describe(job, { phase: 'queued', progress: 0 });
  return confirmSubmission(submission, json(200, video), json(200, { object: 'video' }));
}

function poll(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const look = lookAtJob(request, job);
  return json(200, { ...describe(job, look.state), ...oddities(look), ...linkOf(request, job, look) });
}

/** What the video object tells of the job, the same on creation, on a look and in a list. */
function describe(job: Job, { phase, progress }: JobState): Record<string, unknown> {
  const createdAt = Math.floor(job.createdAtMs / 1000);
  const isDone = phase === 'succeeded';
  const completedAt = createdAt + Math.ceil(job.seconds);
  const told = isDone ? tellUsage(job.consumption, job.usage) : job.consumption;
  return {
    id: job.id,
    object: 'video',
    created_at: createdAt,
    status: STATUS[phase],
    model: job.ordered['model'],
    prompt: job.prompt,
    progress: isDone ? 100 : progress,
    // Always a text, whatever it says.
    seconds: told === undefined ? undefined : String(Object.values(told)[0]),
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
  return { code, message: wordError(message, job.text) };
}

function oddities({ state, weird, flapping, progress }: Look): Record<string, unknown> {
  if (weird) return { status: 'simmering' };
  const isAtWork = state.phase === 'queued' || state.phase === 'running';
  return flapping && isAtWork ? { status: 'in_progress', progress } : {};
}

/** OpenAI has no link. Resellers do: here, only one that leads astray. */
function linkOf(request: SandboxRequest, job: Job, { state, weird }: Look): Record<string, unknown> {
  if (state.phase !== 'succeeded' || weird) return {};
  const result = nextOrders(request, job, 'result').choose('result');
  return result === 'private' ? { video_url: linkResult(request, result, `/${job.id}.mp4`) } : {};
}

/** Newest first, and without the look that a poll is: the directives of polls are not for lists. */
function list(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const limit = Number(request.query.get('limit') ?? LIST_BY_DEFAULT);
  if (!Number.isInteger(limit) || limit < 0 || limit > LIST_MAX)
    return request.voice.refuse(400, { field: 'limit', message: `limit must be from 0 to ${LIST_MAX}.` });
  const newestFirst = request.jobs.of(request.vendor);
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

/** `deliver=0` and `result=missing` leave nothing to download. */
function download(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const variant = request.query.get('variant') ?? 'video';
  if (!VARIANTS.includes(variant)) return request.voice.refuse(400, { field: 'variant' });
  if (request.jobs.stateOf(job).phase !== 'succeeded')
    return request.voice.refuse(400, {
      message: 'Video is not ready yet, use GET /v1/videos/{video_id} to check.',
    });
  const isMissing = job.directives.at(1).choose('result') === 'missing';
  if (job.deliver === 0 || isMissing) return request.voice.refuse(404, { text: job.text });
  const [width = 16, height = 9] = String(job.ordered['size']).split('x').map(Number);
  if (variant === 'video') return serveResult(request, job, videoFile(width, height));
  const format = variant === 'thumbnail' ? 'webp' : 'jpeg';
  return serveResult(request, job, imageFile(job, 0, { width, height, format, transparent: false }));
}
