/** Kling's flat API, for models before 3.0: the path to look at a task depends on the kind of work. */

import { type Answer, EarlyAnswer } from '../answers.ts';
import type { SandboxRequest, Dialect } from '../dialect.ts';
import { beginSubmission, confirmSubmission, createJob, type Look, lookAtJob } from '../faults.ts';
import type { Job } from '../jobs.ts';
import { readJsonObject } from '../requests.ts';
import { checkLegacyOrder } from './legacy-order.ts';
import { linkVideos, newTaskId, planOf, requireAccount, taskIdOf, unitsOf, wordFailure } from './tasks.ts';
import { klingVoice, tellData } from './error-format.ts';

export const klingLegacy: Dialect = {
  vendor: 'kling',
  prefix: '/kling/v1',
  voice: klingVoice,
  routes: [
    { method: 'POST', path: '/videos/{kind}', operation: 'submit', play: generate },
    { method: 'GET', path: '/videos/{kind}/{id}', operation: 'poll', play: poll },
  ],
};

function generate(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const prompt = typeof fields['prompt'] === 'string' ? fields['prompt'] : '';
  request.entry.prompt = prompt;
  const account = requireAccount(request);
  const submission = beginSubmission(request, prompt);
  const kind = requireKind(request);
  const order = checkLegacyOrder(request, kind, fields);
  const job = createJob(submission, planOf(newTaskId(request, account, order.externalId), order, kind));
  const accepted = { ...describe(job), task_status: 'submitted' };
  return confirmSubmission(submission, tellData(accepted), tellData({}));
}

function poll(request: SandboxRequest): Answer {
  const account = requireAccount(request);
  const job = requireTask(request, account);
  const look = lookAtJob(request, job);
  if (look.state.phase === 'expired') return request.voice.refuse(404);
  return tellData({ ...describe(job), ...tellState(request, job, look) });
}

function tellState(request: SandboxRequest, job: Job, look: Look): Record<string, unknown> {
  if (look.weird) return { task_status: 'simmering' };
  switch (look.state.phase) {
    case 'queued':
      return { task_status: 'submitted' };
    case 'running':
      return { task_status: 'processing' };
    case 'succeeded': {
      const videos = linkVideos(request, job).map((video, index) => ({ id: `${job.id}${index}`, ...video }));
      return { task_status: 'succeed', task_result: { videos }, final_unit_deduction: unitsOf(job) };
    }
    default:
      return { task_status: 'failed', task_status_msg: wordFailure(job, look), final_unit_deduction: '0' };
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

/** By the vendor's id or by the customer's own, under the kind it was ordered with. */
function requireTask(request: SandboxRequest, account: string): Job {
  const id = decodeURIComponent(request.parameters['id'] ?? '');
  const job =
    request.jobs.find(request.vendor, id) ?? request.jobs.find(request.vendor, taskIdOf(account, id));
  request.entry.jobId = job?.id ?? id;
  if (job === undefined || job.ordered['kind'] !== requireKind(request))
    throw new EarlyAnswer(request.voice.refuse(404));
  request.entry.prompt = job.prompt;
  return job;
}

function requireKind(request: SandboxRequest): 'text2video' | 'image2video' {
  const { kind } = request.parameters;
  if (kind === 'text2video' || kind === 'image2video') return kind;
  throw new EarlyAnswer(request.voice.refuse(404));
}
