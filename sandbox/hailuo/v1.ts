/** MiniMax's first video API (Hailuo): a poll that ends with a file id, and a second question for the file's link. */

import { randomInt } from 'node:crypto';
import type { Answer } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { beginSubmission, confirmSubmission, createJob, type Look, lookAtJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { wordError } from '../leaky.ts';
import { bearerKey, readJsonObject, requireKey } from '../requests.ts';
import { download, linkVideo } from './files.ts';
import { checkFirstOrder } from './v1-order.ts';
import { hailuoFirstVoice, tellFirst } from './error-format.ts';

export const hailuoV1: Dialect = {
  vendor: 'hailuo',
  prefix: '/minimax',
  voice: hailuoFirstVoice,
  routes: [
    { method: 'POST', path: '/v1/video_generation', operation: 'submit', play: generate },
    { method: 'GET', path: '/v1/query/video_generation', operation: 'poll', play: poll },
    { method: 'GET', path: '/v1/files/retrieve', operation: 'other', play: retrieve },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const SECONDS = 2;
/** Begins the id of a job's file. */
const FILE = '2';

const FAILURES = {
  internal: 'video generation failed, please try again',
  invalid: 'the first frame image has an unsupported format',
  quota: 'insufficient balance',
  concurrency: 'too many videos are being generated',
  moderation: 'output new_sensitive',
} as const;

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : '';
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginSubmission(request, prompt);
  const order = checkFirstOrder(request, fields);
  const job = createJob(submission, {
    id: `1${String(randomInt(2 ** 47)).padStart(15, '0')}`,
    secondsByDefault: SECONDS,
    // The video follows its first frame, of which the sandbox does not know the shape.
    ordered: { ...order, ratio: '16:9' },
    consumption: {},
  });
  return confirmSubmission(submission, tellFirst({ task_id: job.id }), tellFirst({ task_id: '' }));
}

function poll(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const job = findJob(request, request.query.get('task_id') ?? '');
  if (job === undefined) return request.voice.refuse(400, { message: 'task_id does not exist' });
  const look = lookAtJob(request, job);
  if (look.weird) return tellFirst({ task_id: job.id, status: 'Simmering', file_id: '' });
  switch (look.state.phase) {
    case 'queued':
      return tellFirst({ task_id: job.id, status: job.looks === 1 ? 'Preparing' : 'Queueing', file_id: '' });
    case 'running':
      return tellFirst({ task_id: job.id, status: 'Processing', file_id: '' });
    case 'succeeded':
      return tellFirst({
        task_id: job.id,
        status: 'Success',
        file_id: job.deliver === 0 ? '' : `${FILE}${job.id}`,
        video_width: 1366,
        video_height: 768,
      });
    default:
      return tellFailure(job, look);
  }
}

/** The reason is in words alone, but for moderation, which has a code. */
function tellFailure(job: Job, look: Look): Answer {
  const { phase } = look.state;
  const reason = phase === 'moderated' ? 'moderation' : job.reason;
  const message = phase === 'expired' || phase === 'cancelled' ? `the task was ${phase}` : FAILURES[reason];
  const code = message === FAILURES.moderation ? 1027 : 0;
  const body = { task_id: job.id, status: 'Fail', file_id: '' };
  return tellFirst(body, wordError(message, job.text), code);
}

function retrieve(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  const fileId = request.query.get('file_id') ?? '';
  const job = fileId.startsWith(FILE) ? findJob(request, fileId.slice(FILE.length)) : undefined;
  if (job === undefined || request.jobs.stateOf(job).phase !== 'succeeded')
    return request.voice.refuse(400, { message: 'file_id does not exist' });
  const file = { file_id: fileId, bytes: 0, purpose: 'video_generation', filename: 'output.mp4' };
  return tellFirst({ file: { ...file, download_url: linkVideo(request, job) } });
}

function findJob(request: SandboxRequest, id: string): Job | undefined {
  request.entry.jobId = id;
  const job = request.jobs.find(request.vendor, id);
  request.entry.prompt = job?.prompt ?? '';
  return job;
}
