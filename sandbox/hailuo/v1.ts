// MiniMax's v1 video API (Hailuo): the last poll gives a file id, and a further request the file's link.

import { randomInt } from 'node:crypto';
import type { Answer } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { Job } from '../jobs.ts';
import { pollJob, type PollResult } from '../polling.ts';
import { readJsonObject, requireBearerKey, textIn } from '../requests.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { hailuoV1ErrorFormat, v1Answer } from './error-format.ts';
import { download, linkVideo } from './files.ts';
import { checkV1Order } from './v1-order.ts';

export const hailuoV1: VendorApi = {
  vendor: 'hailuo',
  prefix: '/minimax',
  errorFormat: hailuoV1ErrorFormat,
  routes: [
    { method: 'POST', path: '/v1/video_generation', operation: 'submit', handle: generate },
    { method: 'GET', path: '/v1/query/video_generation', operation: 'poll', handle: poll },
    { method: 'GET', path: '/v1/files/retrieve', operation: 'other', handle: retrieve },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', handle: download },
  ],
};

const SECONDS_BY_DEFAULT = 2;
/** Turns a job's id into the id of its file. */
const FILE_ID_PREFIX = '2';
/** UNKNOWN_STATUS in the case of this API's statuses. */
const UNKNOWN_STATUS = 'Simmering';

const FAILURES = {
  internal: 'video generation failed, please try again',
  invalid: 'the first frame image has an unsupported format',
  quota: 'insufficient balance',
  concurrency: 'too many videos are being generated',
  moderation: 'output new_sensitive',
} as const;

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, textIn(fields, 'prompt'));
  const order = checkV1Order(request, fields);
  const job = createJob(submission, {
    id: `1${String(randomInt(2 ** 47)).padStart(15, '0')}`,
    secondsByDefault: SECONDS_BY_DEFAULT,
    // The video has the shape of its first frame, which the sandbox does not look at.
    ordered: { ...order, ratio: '16:9' },
    consumption: {},
  });
  return confirmSubmission(submission, v1Answer({ task_id: job.id }), v1Answer({ task_id: '' }));
}

function poll(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const job = findJob(request, request.query.get('task_id') ?? '');
  if (job === null) return request.errorFormat.refuse(400, { message: 'task_id does not exist' });
  const polled = pollJob(request, job);
  if (polled.hasUnknownStatus) return v1Answer({ task_id: job.id, status: UNKNOWN_STATUS, file_id: '' });
  switch (polled.state.phase) {
    case 'queued':
      return v1Answer({ task_id: job.id, status: job.polls === 1 ? 'Preparing' : 'Queueing', file_id: '' });
    case 'running':
      return v1Answer({ task_id: job.id, status: 'Processing', file_id: '' });
    case 'succeeded':
      return v1Answer({
        task_id: job.id,
        status: 'Success',
        file_id: job.deliver === 0 ? '' : `${FILE_ID_PREFIX}${job.id}`,
        video_width: 1366,
        video_height: 768,
      });
    default:
      return failureAnswer(job, polled);
  }
}

/** The reason is a text alone; only moderation has a code as well. */
function failureAnswer(job: Job, polled: PollResult): Answer {
  const { phase } = polled.state;
  const reason = phase === 'moderated' ? 'moderation' : job.reason;
  const message = phase === 'expired' || phase === 'cancelled' ? `the task was ${phase}` : FAILURES[reason];
  const code = message === FAILURES.moderation ? 1027 : 0;
  const body = { task_id: job.id, status: 'Fail', file_id: '' };
  return v1Answer(body, errorText(message, job.text), code);
}

function retrieve(request: SandboxRequest): Answer {
  requireBearerKey(request);
  const fileId = request.query.get('file_id') ?? '';
  const job = fileId.startsWith(FILE_ID_PREFIX)
    ? findJob(request, fileId.slice(FILE_ID_PREFIX.length))
    : null;
  if (job === null || request.jobs.stateOf(job).phase !== 'succeeded')
    return request.errorFormat.refuse(400, { message: 'file_id does not exist' });
  const file = { file_id: fileId, bytes: 0, purpose: 'video_generation', filename: 'output.mp4' };
  return v1Answer({ file: { ...file, download_url: linkVideo(request, job) } });
}

function findJob(request: SandboxRequest, id: string): Job | null {
  request.entry.jobId = id;
  const job = request.jobs.find(request.vendor, id);
  request.entry.prompt = job?.prompt ?? '';
  return job;
}
