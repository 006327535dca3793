/** Wan on DashScope: an asynchronous task, a list without prompts, a cancel for what has not begun. */

import { randomUUID } from 'node:crypto';
import { type Answer, EarlyAnswer, json } from '../answers.ts';
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
import type { FinalPhase, Job, JobState } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, isFields, readJsonObject, requireKey } from '../requests.ts';
import { linkResult, serveResult, videoFile } from '../results.ts';
import { checkOrder, INPUT_VIDEO_SECONDS, type WanOrder } from './order.ts';
import { wanVoice } from './error-format.ts';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';

export const wan: Dialect = {
  vendor: 'wan',
  prefix: '/dashscope',
  voice: wanVoice,
  routes: [
    { method: 'POST', path: SYNTHESIS, operation: 'submit', play: submit },
    { method: 'GET', path: TASKS, operation: 'other', play: list },
    { method: 'GET', path: `${TASKS}/`, operation: 'other', play: list },
    { method: 'GET', path: `${TASKS}/{id}`, operation: 'poll', play: poll },
    { method: 'POST', path: `${TASKS}/{id}/cancel`, operation: 'cancel', play: cancel },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const SECONDS = 2;
const FRAMES_PER_SECOND = 30;
const PAGE_SIZE_MAX = 100;

const WORDS: Readonly<Record<'queued' | 'running' | FinalPhase, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  moderated: 'FAILED',
  cancelled: 'CANCELED',
  expired: 'UNKNOWN',
};

const FAILURES = {
  internal: { code: 'InternalError', message: 'The video could not be generated.' },
  invalid: { code: 'InvalidParameter', message: 'The input image could not be decoded.' },
  quota: { code: 'Arrearage', message: 'Please make sure your account is in good standing.' },
  concurrency: { code: 'Throttling', message: 'Too many concurrent tasks.' },
  moderation: { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' },
} as const;
const MODERATED = {
  code: 'DataInspectionFailed',
  message: 'Output data may contain inappropriate content.',
};

/** White space around a prompt is no part of what it orders, but is told again as it was sent. */
function submit(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const input = isFields(fields['input']) ? fields['input'] : {};
  const sent = typeof input['prompt'] === 'string' ? input['prompt'] : '';
  const prompt = sent.trimEnd();
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  if (request.req.headers['x-dashscope-async'] !== 'enable') {
    const message = 'current user api does not support synchronous calls.';
    return request.voice.refuse(403, { message });
  }
  const submission = beginSubmission(request, prompt);
  const order = checkOrder(request, fields);
  const job = createJob(submission, {
    id: randomUUID(),
    secondsByDefault: SECONDS,
    ordered: { ...order, promptEnd: sent.slice(prompt.length) },
    consumption: consumptionOf(order),
  });
  const answer = (output: object): Answer => json(200, { request_id: randomUUID(), output });
  return confirmSubmission(submission, answer({ task_id: job.id, task_status: 'PENDING' }), answer({}));
}

function poll(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const id = request.parameters['id'] ?? '';
  try {
    const job = requireJob(request, id);
    return tell(request, job, lookAtJob(request, job));
  } catch (error) {
    // What this vendor does not know, it does not call an error.
    const isMissing = error instanceof EarlyAnswer && 'status' in error.answer && error.answer.status === 404;
    if (!isMissing) throw error;
    return json(200, { request_id: randomUUID(), output: { task_id: id, task_status: 'UNKNOWN' } });
  }
}

function list(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const { query } = request;
  const [model, status] = [query.get('model_name'), query.get('status')];
  const found = request.jobs.of(request.vendor).filter((job) => {
    return (
      (model === null || job.ordered['model'] === model) &&
      (status === null || WORDS[request.jobs.stateOf(job).phase] === status)
    );
  });
  const pageSize = Math.min(Number(query.get('page_size') ?? 10), PAGE_SIZE_MAX);
  const pageNo = Number(query.get('page_no') ?? 1);
  const data = found.slice((pageNo - 1) * pageSize, pageNo * pageSize).map((job) => ({
    task_id: job.id,
    model_name: job.ordered['model'],
    status: WORDS[request.jobs.stateOf(job).phase],
    gmt_create: job.createdAtMs,
    start_time: job.createdAtMs,
    end_time: null,
    request_id: job.id,
  }));
  const pages = Math.ceil(found.length / pageSize);
  const page = { page_no: pageNo, page_size: pageSize, total: found.length, total_page: pages };
  return json(200, { request_id: randomUUID(), data, ...page });
}

function cancel(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  const order = nextOrders(request, job, 'cancel').choose('cancel');
  if (order === 'hang') return { kind: 'hang' };
  if (order === 'too_late' || request.jobs.stateOf(job).phase !== 'queued') {
    const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.';
    return request.voice.refuse(400, { code: 'UnsupportedOperation', message });
  }
  request.jobs.cancel(job);
  return json(200, { request_id: randomUUID() });
}

function tell(request: SandboxRequest, job: Job, { state, weird }: Look): Answer {
  const output = {
    task_id: job.id,
    task_status: weird ? 'SIMMERING' : WORDS[state.phase],
    submit_time: timeOf(job.createdAtMs),
    orig_prompt: `${job.prompt}${String(job.ordered['promptEnd'])}`,
  };
  const identified = { request_id: randomUUID() };
  if (weird) return json(200, { ...identified, output });
  if (state.phase === 'succeeded') {
    const usage = tellUsage(job.consumption, job.usage);
    return json(200, { ...identified, output: { ...output, ...linkVideo(request, job) }, usage });
  }
  return json(200, { ...identified, output: { ...output, ...tellError(job, state) } });
}

function linkVideo(request: SandboxRequest, job: Job): object {
  const result = nextOrders(request, job, 'result').choose('result');
  const url = linkResult(request, result, `${wan.prefix}/files/${job.id}.mp4`);
  return { actual_prompt: job.prompt, ...(job.deliver === 0 ? {} : { video_url: url }) };
}

function tellError(job: Job, { phase }: JobState): object {
  if (phase !== 'failed' && phase !== 'moderated') return {};
  const { code, message } = phase === 'moderated' ? MODERATED : FAILURES[job.reason];
  return { code, message: wordError(message, job.text) };
}

/** `duration` is what is billed: seconds of input and of output. */
function consumptionOf({ duration, resolution, inputVideos }: WanOrder): Record<string, number> {
  const input = inputVideos * INPUT_VIDEO_SECONDS;
  return {
    duration: duration + input,
    output_video_duration: duration,
    input_video_duration: input,
    SR: Number.parseInt(resolution, 10),
    video_count: 1,
    fps: FRAMES_PER_SECOND,
  };
}

/** As the vendor writes it: Beijing time. */
function timeOf(ms: number): string {
  return new Date(ms + 8 * 3_600_000).toISOString().replace('T', ' ').replace('Z', '');
}

function download(request: SandboxRequest): Answer {
  const job = requireJob(request, request.parameters['id'] ?? '');
  const [width = 16, height = 9] = String(job.ordered['ratio']).split(':').map(Number);
  return serveResult(request, job, videoFile(width, height));
}
