// Wan on DashScope: asynchronous tasks, a list without prompts, cancellation of pending tasks.

import { randomUUID } from 'node:crypto';
import { type Answer, EarlyAnswer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { FinalPhase, Job, JobState } from '../jobs.ts';
import { nextDirectives, pollJob, type PollResult, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { isFields, readJsonObject, refuse, requireBearerKey, textIn } from '../requests.ts';
import { linkJobResult, serveVideo } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { wanErrorFormat } from './error-format.ts';
import { checkOrder, INPUT_VIDEO_SECONDS, type WanOrder } from './order.ts';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';

export const wan: VendorApi = {
  vendor: 'wan',
  prefix: '/dashscope',
  errorFormat: wanErrorFormat,
  routes: [
    { method: 'POST', path: SYNTHESIS, operation: 'submit', handle: submit },
    { method: 'GET', path: TASKS, operation: 'other', handle: list },
    { method: 'GET', path: `${TASKS}/`, operation: 'other', handle: list },
    { method: 'GET', path: `${TASKS}/{id}`, operation: 'poll', handle: poll },
    { method: 'POST', path: `${TASKS}/{id}/cancel`, operation: 'cancel', handle: cancel },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', handle: serveVideo },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const FRAMES_PER_SECOND = 30;
const PAGE_SIZE_MAX = 100;

const STATUS: Readonly<Record<'queued' | 'running' | FinalPhase, string>> = {
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

/** White space at the prompt's end is ignored, but reported with the prompt as it was sent. */
function submit(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const input = isFields(fields['input']) ? fields['input'] : {};
  const promptSent = textIn(input, 'prompt');
  const prompt = promptSent.trimEnd();
  const submission = beginSubmission(request, prompt, requireAsynchronousCall);
  const order = checkOrder(request, fields);
  const job = createJob(submission, {
    id: randomUUID(),
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order, promptEnd: promptSent.slice(prompt.length) },
    consumption: consumptionOf(order),
  });
  const answer = (output: object): Answer => json(200, { request_id: randomUUID(), output });
  return confirmSubmission(submission, answer({ task_id: job.id, task_status: 'PENDING' }), answer({}));
}

function requireAsynchronousCall(request: SandboxRequest): void {
  requireBearerKey(request);
  if (request.req.headers['x-dashscope-async'] === 'enable') return;
  refuse(request, 403, { message: 'current user api does not support synchronous calls.' });
}

function poll(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const id = request.parameters['id'] ?? '';
  try {
    const job = requireJob(request, id);
    return taskAnswer(request, job, pollJob(request, job));
  } catch (error) {
    // DashScope answers 200 for an unknown task, with the status UNKNOWN.
    const isMissing = error instanceof EarlyAnswer && 'status' in error.answer && error.answer.status === 404;
    if (!isMissing) throw error;
    return json(200, { request_id: randomUUID(), output: { task_id: id, task_status: 'UNKNOWN' } });
  }
}

function list(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const { query } = request;
  const [model, status] = [query.get('model_name'), query.get('status')];
  const found = request.jobs.listOf(request.vendor).filter((job) => {
    return (
      (model === null || job.ordered['model'] === model) &&
      (status === null || STATUS[request.jobs.stateOf(job).phase] === status)
    );
  });
  const pageSize = Math.min(Number(query.get('page_size') ?? 10), PAGE_SIZE_MAX);
  const pageNo = Number(query.get('page_no') ?? 1);
  const data = found.slice((pageNo - 1) * pageSize, pageNo * pageSize).map((job) => ({
    task_id: job.id,
    model_name: job.ordered['model'],
    status: STATUS[request.jobs.stateOf(job).phase],
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
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const directive = nextDirectives(request, job, 'cancel').choose('cancel');
  if (directive === 'hang') return { kind: 'hang' };
  if (directive === 'too_late' || request.jobs.stateOf(job).phase !== 'queued') {
    const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.';
    return request.errorFormat.refuse(400, { code: 'UnsupportedOperation', message });
  }
  request.jobs.cancel(job);
  return json(200, { request_id: randomUUID() });
}

function taskAnswer(request: SandboxRequest, job: Job, { state, hasUnknownStatus }: PollResult): Answer {
  const output = {
    task_id: job.id,
    task_status: hasUnknownStatus ? UNKNOWN_STATUS.toUpperCase() : STATUS[state.phase],
    submit_time: beijingTime(job.createdAtMs),
    orig_prompt: `${job.prompt}${String(job.ordered['promptEnd'])}`,
  };
  const identified = { request_id: randomUUID() };
  if (hasUnknownStatus) return json(200, { ...identified, output });
  if (state.phase === 'succeeded') {
    const usage = reportUsage(job.consumption, job.usage);
    return json(200, { ...identified, output: { ...output, ...linkVideo(request, job) }, usage });
  }
  return json(200, { ...identified, output: { ...output, ...errorFields(job, state) } });
}

function linkVideo(request: SandboxRequest, job: Job): object {
  const url = linkJobResult(request, job, `${wan.prefix}/files/${job.id}.mp4`);
  return { actual_prompt: job.prompt, ...(job.deliver === 0 ? {} : { video_url: url }) };
}

function errorFields(job: Job, { phase }: JobState): object {
  if (phase !== 'failed' && phase !== 'moderated') return {};
  const { code, message } = phase === 'moderated' ? MODERATED : FAILURES[job.reason];
  return { code, message: errorText(message, job.text) };
}

/** `duration` is the charged one: seconds of input and of output. */
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

/** Writes a time as the vendor does, in Beijing time. */
function beijingTime(ms: number): string {
  return new Date(ms + 8 * 3_600_000).toISOString().replace('T', ' ').replace('Z', '');
}
