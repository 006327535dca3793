// MiniMax's v2 video API (H3): one DELETE that cancels a queued task and erases an ended one.

import { randomInt } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import type { Job } from '../jobs.ts';
import { nextDirectives, pollJob, type PollResult, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, refuse, requireBearerKey } from '../requests.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { hailuoV2ErrorFormat } from './error-format.ts';
import { linkVideo } from './files.ts';
import { checkV2Order, promptOf } from './v2-order.ts';

export const hailuoV2: VendorApi = {
  vendor: 'hailuo',
  prefix: '/minimax/v2',
  errorFormat: hailuoV2ErrorFormat,
  routes: [
    { method: 'POST', path: '/video_generation', operation: 'submit', handle: generate },
    { method: 'GET', path: '/query/video_generation/{id}', operation: 'poll', handle: poll },
    { method: 'DELETE', path: '/video_generation/{id}', operation: 'cancel', handle: cancel },
  ],
};

const SECONDS_BY_DEFAULT = 2;
/** Assumed length of every input video, which the sandbox does not look at. */
const INPUT_VIDEO_SECONDS = 5;

const FAILURES = {
  internal: { code: '1000', message: 'video generation failed' },
  invalid: { code: '2013', message: 'invalid params: the image cannot be decoded' },
  quota: { code: '1008', message: 'insufficient balance' },
  concurrency: { code: '1000', message: 'the concurrency limit was reached' },
  moderation: { code: '1027', message: 'output contains sensitive content' },
} as const;

/** Ended tasks that were erased; further requests about them answer 404. */
const erased = new WeakSet<Job>();

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, promptOf(fields));
  const order = checkV2Order(request, fields);
  const inputSeconds = order.inputVideos * INPUT_VIDEO_SECONDS;
  const job = createJob(submission, {
    id: `4${String(randomInt(2 ** 47)).padStart(15, '0')}`,
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered: { ...order },
    consumption: {
      total_seconds: order.seconds + inputSeconds,
      input_seconds: inputSeconds,
      output_seconds: order.seconds,
      input_image_count: order.inputImages,
    },
  });
  return confirmSubmission(submission, json(200, { task_id: job.id }), json(200, {}));
}

function poll(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const polled = pollJob(request, job);
  const { model, resolution, seconds, ratio } = job.ordered;
  const described = { id: job.id, model, resolution, duration: seconds, ratio };
  return json(200, { task: { ...described, ...stateFields(request, job, polled) } });
}

function stateFields(request: SandboxRequest, job: Job, polled: PollResult): Record<string, unknown> {
  if (polled.hasUnknownStatus) return { status: UNKNOWN_STATUS };
  const { phase } = polled.state;
  switch (phase) {
    case 'succeeded': {
      const content = job.deliver === 0 ? undefined : { url: linkVideo(request, job) };
      return { status: phase, content, usage: reportUsage(job.consumption, job.usage) };
    }
    case 'failed':
    case 'moderated': {
      const { code, message } = FAILURES[phase === 'moderated' ? 'moderation' : job.reason];
      return { status: 'failed', error: { code, message: errorText(message, job.text) } };
    }
    default:
      return { status: phase };
  }
}

function cancel(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const directive = nextDirectives(request, job, 'cancel').choose('cancel');
  if (directive === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (directive === 'too_late' || phase === 'running' || phase === 'cancelled')
    return request.errorFormat.refuse(400, { message: `a ${phase} task cannot be cancelled` });
  if (phase === 'queued') {
    request.jobs.cancel(job);
    return json(200, { task_id: job.id, action: 'cancel', status: 'cancelled' });
  }
  erased.add(job);
  return json(200, { task_id: job.id, action: 'delete', status: 'deleted' });
}

function requireTask(request: SandboxRequest): Job {
  requireBearerKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (erased.has(job)) refuse(request, 404);
  return job;
}
