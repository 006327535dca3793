// Kling's flat API, for models before 3.0: the path of a poll contains the kind of task.

import type { Answer } from '../answers.ts';
import type { Job } from '../jobs.ts';
import { pollJob, type PollResult, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, refuse, textIn } from '../requests.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { klingErrorFormat, dataAnswer } from './error-format.ts';
import { checkLegacyOrder } from './legacy-order.ts';
import { linkVideos, newTaskId, planOf, requireAccount, taskIdOf, unitsOf, failureText } from './tasks.ts';

export const klingLegacy: VendorApi = {
  vendor: 'kling',
  prefix: '/kling/v1',
  errorFormat: klingErrorFormat,
  routes: [
    { method: 'POST', path: '/videos/{kind}', operation: 'submit', handle: generate },
    { method: 'GET', path: '/videos/{kind}/{id}', operation: 'poll', handle: poll },
  ],
};

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, textIn(fields, 'prompt'), requireAccount);
  const account = requireAccount(request);
  const kind = requireKind(request);
  const order = checkLegacyOrder(request, kind, fields);
  const job = createJob(submission, planOf(newTaskId(request, account, order.externalId), order, kind));
  const accepted = { ...describe(job), task_status: 'submitted' };
  return confirmSubmission(submission, dataAnswer(accepted), dataAnswer({}));
}

function poll(request: SandboxRequest): Answer {
  const account = requireAccount(request);
  const job = requireTask(request, account);
  const polled = pollJob(request, job);
  if (polled.state.phase === 'expired') return request.errorFormat.refuse(404);
  return dataAnswer({ ...describe(job), ...stateFields(request, job, polled) });
}

function stateFields(request: SandboxRequest, job: Job, polled: PollResult): Record<string, unknown> {
  if (polled.hasUnknownStatus) return { task_status: UNKNOWN_STATUS };
  switch (polled.state.phase) {
    case 'queued':
      return { task_status: 'submitted' };
    case 'running':
      return { task_status: 'processing' };
    case 'succeeded': {
      const videos = linkVideos(request, job).map((video, index) => ({ id: `${job.id}${index}`, ...video }));
      return { task_status: 'succeed', task_result: { videos }, final_unit_deduction: unitsOf(job) };
    }
    default:
      return { task_status: 'failed', task_status_msg: failureText(job, polled), final_unit_deduction: '0' };
  }
}

function describe(job: Job): Record<string, unknown> {
  const external = job.ordered['externalId'];
  return {
    task_id: job.id,
    task_info: external === null ? {} : { external_task_id: external },
    created_at: job.createdAtMs,
    updated_at: job.createdAtMs,
  };
}

/** Finds a task of the path's kind by the vendor's id or the customer's. */
function requireTask(request: SandboxRequest, account: string): Job {
  const id = decodeURIComponent(request.parameters['id'] ?? '');
  const job =
    request.jobs.find(request.vendor, id) ?? request.jobs.find(request.vendor, taskIdOf(account, id));
  request.entry.jobId = job?.id ?? id;
  if (job === null || job.ordered['kind'] !== requireKind(request)) refuse(request, 404);
  request.entry.prompt = job.prompt;
  return job;
}

function requireKind(request: SandboxRequest): 'text2video' | 'image2video' {
  const { kind } = request.parameters;
  if (kind === 'text2video' || kind === 'image2video') return kind;
  return refuse(request, 404);
}
