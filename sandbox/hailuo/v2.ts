/** MiniMax's second video API (H3): one request that stops what waits and erases what has ended. */

import { randomInt } from 'node:crypto';
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
import type { Job } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, readJsonObject, requireKey } from '../requests.ts';
import { linkVideo } from './files.ts';
import { checkSecondOrder, promptOf } from './v2-order.ts';
import { hailuoSecondVoice } from './error-format.ts';

export const hailuoV2: Dialect = {
  vendor: 'hailuo',
  prefix: '/minimax/v2',
  voice: hailuoSecondVoice,
  routes: [
    { method: 'POST', path: '/video_generation', operation: 'submit', play: generate },
    { method: 'GET', path: '/query/video_generation/{id}', operation: 'poll', play: poll },
    { method: 'DELETE', path: '/video_generation/{id}', operation: 'cancel', play: cancel },
  ],
};

const SECONDS = 2;
/** So long is every input video, as far as the sandbox knows. */
const INPUT_VIDEO_SECONDS = 5;

const FAILURES = {
  internal: { code: '1000', message: 'video generation failed' },
  invalid: { code: '2013', message: 'invalid params: the image cannot be decoded' },
  quota: { code: '1008', message: 'insufficient balance' },
  concurrency: { code: '1000', message: 'the concurrency limit was reached' },
  moderation: { code: '1027', message: 'output contains sensitive content' },
} as const;

/** Ended tasks that were erased: nobody can ask about them any more. */
const erased = new WeakSet<Job>();

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const prompt = promptOf(fields);
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginSubmission(request, prompt);
  const order = checkSecondOrder(request, fields);
  const inputSeconds = order.inputVideos * INPUT_VIDEO_SECONDS;
  const job = createJob(submission, {
    id: `4${String(randomInt(2 ** 47)).padStart(15, '0')}`,
    secondsByDefault: SECONDS,
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
  const look = lookAtJob(request, job);
  const { model, resolution, seconds, ratio } = job.ordered;
  const described = { id: job.id, model, resolution, duration: seconds, ratio };
  return json(200, { task: { ...described, ...tellState(request, job, look) } });
}

function tellState(request: SandboxRequest, job: Job, look: Look): Record<string, unknown> {
  if (look.weird) return { status: 'simmering' };
  const { phase } = look.state;
  switch (phase) {
    case 'succeeded': {
      const content = job.deliver === 0 ? undefined : { url: linkVideo(request, job) };
      return { status: phase, content, usage: tellUsage(job.consumption, job.usage) };
    }
    case 'failed':
    case 'moderated': {
      const { code, message } = FAILURES[phase === 'moderated' ? 'moderation' : job.reason];
      return { status: 'failed', error: { code, message: wordError(message, job.text) } };
    }
    default:
      return { status: phase };
  }
}

function cancel(request: SandboxRequest): Answer {
  const job = requireTask(request);
  const ordered = nextOrders(request, job, 'cancel').choose('cancel');
  if (ordered === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (ordered === 'too_late' || phase === 'running' || phase === 'cancelled')
    return request.voice.refuse(400, { message: `a ${phase} task cannot be cancelled` });
  if (phase === 'queued') {
    request.jobs.cancel(job);
    return json(200, { task_id: job.id, action: 'cancel', status: 'cancelled' });
  }
  erased.add(job);
  return json(200, { task_id: job.id, action: 'delete', status: 'deleted' });
}

function requireTask(request: SandboxRequest): Job {
  requireKey(request, bearerKey(request));
  const job = requireJob(request, request.parameters['id'] ?? '');
  if (erased.has(job)) throw new EarlyAnswer(request.voice.refuse(404));
  return job;
}
