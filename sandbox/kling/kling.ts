/** Kling's API since 3.0: the model is in the path, and one list answers for tasks by either id. */

import { type Answer, EarlyAnswer } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { beginSubmission, confirmSubmission, createJob, type Look, lookAtJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { readJsonObject } from '../requests.ts';
import { checkOrder, type Kind, promptOf } from './order.ts';
import {
  download,
  linkVideos,
  newTaskId,
  planOf,
  requireAccount,
  taskIdOf,
  unitsOf,
  wordFailure,
} from './tasks.ts';
import { klingVoice, tellData } from './error-format.ts';

export const kling: Dialect = {
  vendor: 'kling',
  prefix: '/kling',
  voice: klingVoice,
  routes: [
    ...(['text-to-video', 'image-to-video', 'omni-video'] as const).map((kind) => ({
      method: 'POST' as const,
      path: `/${kind}/{model}`,
      operation: 'submit' as const,
      play: (request: SandboxRequest): Answer => generate(request, kind),
    })),
    { method: 'GET', path: '/tasks', operation: 'poll', play: poll },
    { method: 'GET', path: '/files/{id}.mp4', operation: 'download', play: download },
  ],
};

const IDS_MAX = 20;

function generate(request: SandboxRequest, kind: Kind): Answer {
  const fields = readJsonObject(request);
  const prompt = promptOf(fields);
  request.entry.prompt = prompt;
  const account = requireAccount(request);
  const submission = beginSubmission(request, prompt);
  const order = checkOrder(request, kind, fields);
  const job = createJob(submission, planOf(newTaskId(request, account, order.externalId), order, kind));
  const accepted = tellData({ ...describe(job), status: 'submitted' });
  return confirmSubmission(submission, accepted, tellData({}));
}

/** Tasks that are not there are left out of the list. */
function poll(request: SandboxRequest): Answer {
  const account = requireAccount(request);
  const own = request.query.get('task_ids');
  const external = request.query.get('external_task_ids');
  const ids = (own ?? external ?? '').split(',').filter((id) => id !== '');
  if (ids.length === 0 || ids.length > IDS_MAX)
    throw new EarlyAnswer(request.voice.refuse(400, { field: 'task_ids', message: `1 to ${IDS_MAX} ids.` }));
  const tasks = ids
    .map((id) => request.jobs.find(request.vendor, own === null ? taskIdOf(account, id) : id))
    .filter((job) => job !== undefined)
    .map((job) => tellTask(request, job))
    .filter((task) => task !== undefined);
  return tellData(tasks);
}

function tellTask(request: SandboxRequest, job: Job): Record<string, unknown> | undefined {
  request.entry.jobId = job.id;
  request.entry.prompt = job.prompt;
  const look = lookAtJob(request, job);
  return look.state.phase === 'expired' ? undefined : { ...describe(job), ...tellState(request, job, look) };
}

function tellState(request: SandboxRequest, job: Job, look: Look): Record<string, unknown> {
  if (look.weird) return { status: 'simmering' };
  switch (look.state.phase) {
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
      return { status: 'failed', message: wordFailure(job, look) };
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
