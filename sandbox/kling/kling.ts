// Kling's API since 3.0: the model is in the path, and a list finds tasks by the vendor's or customer's id.

import type { Answer } from '../answers.ts';
import type { Job } from '../jobs.ts';
import { pollJob, type PollResult, UNKNOWN_STATUS } from '../polling.ts';
import { readJsonObject, refuse } from '../requests.ts';
import { serveVideo } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { klingErrorFormat, dataAnswer } from './error-format.ts';
import { checkOrder, type Kind, promptOf } from './order.ts';
import { linkVideos, newTaskId, planOf, requireAccount, taskIdOf, unitsOf, failureText } from './tasks.ts';

export const kling: VendorApi = {
  vendor: 'kling',
  prefix: '/kling',
  errorFormat: klingErrorFormat,
  routes: [
    ...(['text-to-video', 'image-to-video', 'omni-video'] as const).map((kind) => ({
      method: 'POST' as const,
      path: `/${kind}/{model}`,
      operation: 'submit' as const,
      handle: (request: SandboxRequest): Answer => generate(request, kind),
    })),
    { method: 'GET', path: '/tasks', operation: 'poll', handle: poll },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', handle: serveVideo },
  ],
};

const IDS_MAX = 20;

/** Tokens signed with a secret key are for the older API (a probe of 2026-09-20 got code 1002). */
function requirePlainAccount(request: SandboxRequest): string {
  return requireAccount(request, false);
}

function generate(request: SandboxRequest, kind: Kind): Answer {
  const fields = readJsonObject(request);
  const submission = beginSubmission(request, promptOf(fields), requirePlainAccount);
  const account = requirePlainAccount(request);
  const order = checkOrder(request, kind, fields);
  const job = createJob(submission, planOf(newTaskId(request, account, order.externalId), order, kind));
  const accepted = dataAnswer({ ...describe(job), status: 'submitted' });
  return confirmSubmission(submission, accepted, dataAnswer({}));
}

/** Leaves unknown and expired tasks out of the list. */
function poll(request: SandboxRequest): Answer {
  const account = requirePlainAccount(request);
  const taskIds = request.query.get('task_ids');
  const externalIds = request.query.get('external_task_ids');
  const ids = (taskIds ?? externalIds ?? '').split(',').filter((id) => id !== '');
  if (ids.length === 0 || ids.length > IDS_MAX)
    refuse(request, 400, { field: 'task_ids', message: `1 to ${IDS_MAX} ids.` });
  const tasks = ids
    .map((id) => request.jobs.find(request.vendor, taskIds === null ? taskIdOf(account, id) : id))
    .filter((job) => job !== null)
    .map((job) => taskFields(request, job))
    .filter((task) => task !== null);
  return dataAnswer(tasks);
}

function taskFields(request: SandboxRequest, job: Job): Record<string, unknown> | null {
  request.entry.jobId = job.id;
  request.entry.prompt = job.prompt;
  const polled = pollJob(request, job);
  return polled.state.phase === 'expired' ? null : { ...describe(job), ...stateFields(request, job, polled) };
}

function stateFields(request: SandboxRequest, job: Job, polled: PollResult): Record<string, unknown> {
  if (polled.hasUnknownStatus) return { status: UNKNOWN_STATUS };
  switch (polled.state.phase) {
    case 'queued':
      return { status: 'submitted' };
    case 'running':
      return { status: 'processing' };
    case 'succeeded': {
      const outputs = linkVideos(request, job).map((video) => ({ type: 'video', ...video }));
      const amount = unitsOf(job);
      const billing = [{ charge_type: 'unit', amount, package_type: 'video' }];
      return { status: 'succeeded', outputs, billing: amount === undefined ? undefined : billing };
    }
    default:
      return { status: 'failed', message: failureText(job, polled) };
  }
}

function describe(job: Job): Record<string, unknown> {
  return {
    id: job.id,
    external_id: job.ordered['externalId'] ?? undefined,
    create_time: job.createdAtMs,
    update_time: job.createdAtMs,
  };
}
