/** How submissions and looks go wrong when a prompt orders it, the same for every vendor. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, EarlyAnswer, htmlPage } from './answers.ts';
import type { RequestKind } from './counts.ts';
import type { SandboxRequest } from './dialect.ts';
import { DirectiveError, type Directives, type Orders, readDirectives } from './directives.ts';
import type { Job, JobPlan, JobState } from './jobs.ts';

export interface Submission {
  readonly call: SandboxRequest;
  readonly prompt: string;
  readonly directives: Directives;
  readonly orders: Orders;
}

export interface Look {
  readonly state: JobState;
  /** The vendor shall use a status word that nobody knows. */
  readonly weird: boolean;
  readonly progress: number;
  /** The progress is not the true one and may leave 0 to 100. */
  readonly flapping: boolean;
}

const FLAPPING_PROGRESS = [50, 20, 250, -1];

/** Ends the request here where the prompt orders a refusal; whatever is created comes after. */
export function beginSubmission(request: SandboxRequest, prompt: string): Submission {
  const directives = directivesOf(request, prompt, 'prompt');
  const orders = directives.at(request.counts.next(request.vendor, 'submit', prompt));
  return refuseAsOrdered({ call: request, prompt, directives, orders });
}

/**
 * As beginSubmission, for chat. All vendors count together, so that a prompt can order the first one that is asked to
 * fail and the next one to answer.
 */
export function beginChat(request: SandboxRequest, prompt: string): Submission {
  const directives = directivesOf(request, prompt, 'messages');
  const orders = directives.at(request.counts.next('', 'chat', prompt));
  return refuseAsOrdered({ call: request, prompt, directives, orders });
}

function refuseAsOrdered(submission: Submission): Submission {
  const { call: request, orders } = submission;
  const fault = orders.choose('submit');
  if (fault === 'hang' || fault === 'reset') throw new EarlyAnswer({ kind: fault });
  if (fault === 'html') throw new EarlyAnswer(htmlPage());
  if (/^\d+$/.test(fault)) {
    throw new EarlyAnswer(request.voice.refuse(Number(fault), { text: orders.choose('text') }));
  }
  return submission;
}

export function createJob(
  submission: Submission,
  job: Pick<JobPlan, 'id' | 'ordered' | 'consumption'> & { readonly secondsByDefault: number },
): Job {
  const { call: request, prompt, directives, orders } = submission;
  request.entry.jobId = job.id;
  return request.jobs.create({
    id: job.id,
    vendor: request.vendor,
    prompt,
    directives,
    seconds: orders.number('seconds') ?? job.secondsByDefault,
    outcome: orders.choose('outcome'),
    reason: orders.choose('reason'),
    text: orders.choose('text'),
    usage: orders.choose('usage'),
    deliver: orders.number('deliver'),
    ordered: job.ordered,
    consumption: job.consumption,
  });
}

/** The answer to a submission whose job exists; `withoutId` is the same answer with its substance left out. */
export function confirmSubmission(submission: Submission, accepted: Answer, withoutId: Answer): Answer {
  switch (submission.orders.choose('submit')) {
    case 'accept_then_reset':
      return { kind: 'reset' };
    case 'no_id':
      return withoutId;
    case 'truncated':
      return accepted.kind === 'whole' ? { ...accepted, kind: 'cut' } : accepted;
    default:
      return accepted;
  }
}

/** For vendors that answer a submission with the result itself. False where that never comes. */
export async function waitUntilFinal(request: SandboxRequest, job: Job): Promise<boolean> {
  if (job.outcome === 'stuck') return false;
  await sleep(job.seconds * 1000, undefined, { signal: request.closed });
  return true;
}

/** The job a path or query names; the vendor's 404 where there is none. */
export function requireJob(request: SandboxRequest, id: string): Job {
  request.entry.jobId = id;
  const job = request.jobs.find(request.vendor, id);
  if (job === undefined) throw new EarlyAnswer(request.voice.refuse(404));
  request.entry.prompt = job.prompt;
  return job;
}

/** The orders for one more request of this kind about this job. */
export function nextOrders(request: SandboxRequest, job: Job, kind: RequestKind): Orders {
  return job.directives.at(request.counts.next(request.vendor, kind, job.prompt));
}

/** What the vendor tells about the job now; ends the request here where the prompt orders a failed look. */
export function lookAtJob(request: SandboxRequest, job: Job): Look {
  const poll = nextOrders(request, job, 'poll').choose('poll');
  if (poll === 'hang') throw new EarlyAnswer({ kind: 'hang' });
  if (poll === 'html') throw new EarlyAnswer(htmlPage());
  if (poll === 'not_found') throw new EarlyAnswer(request.voice.refuse(404, { text: job.text }));
  if (poll === '500' || poll === '429') {
    throw new EarlyAnswer(request.voice.refuse(Number(poll), { text: job.text }));
  }
  const state = poll === 'regress' ? regressed(request, job) : request.jobs.stateOf(job);
  const flappedProgress = FLAPPING_PROGRESS[job.looks % FLAPPING_PROGRESS.length] ?? 0;
  job.looks += 1;
  if (poll !== 'weird' && state.phase === 'succeeded') job.successesTold += 1;
  const flapping = poll === 'flap';
  return { state, weird: poll === 'weird', progress: flapping ? flappedProgress : state.progress, flapping };
}

function regressed(request: SandboxRequest, job: Job): JobState {
  const state = request.jobs.stateOf(job);
  return state.phase === 'succeeded' && job.successesTold > 0 ? { phase: 'failed', progress: 100 } : state;
}

function directivesOf(request: SandboxRequest, prompt: string, field: string): Directives {
  try {
    return readDirectives(prompt);
  } catch (error) {
    if (!(error instanceof DirectiveError)) throw error;
    throw new EarlyAnswer(request.voice.refuse(400, { message: error.message, field }));
  }
}
