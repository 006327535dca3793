/** How submissions and looks go wrong when a prompt orders it, the same for every vendor. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, EarlyAnswer, htmlPage } from './answers.ts';
import type { RequestKind } from './counts.ts';
import type { Call } from './dialect.ts';
import { DirectiveError, type Directives, type Orders, readDirectives } from './directives.ts';
import type { Job, JobPlan, JobState } from './jobs.ts';

export interface Submission {
  readonly call: Call;
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
export function beginSubmission(call: Call, prompt: string): Submission {
  const directives = directivesOf(call, prompt, 'prompt');
  const orders = directives.at(call.counts.next(call.vendor, 'submit', prompt));
  return refuseAsOrdered({ call, prompt, directives, orders });
}

/**
 * As beginSubmission, for chat. All vendors count together, so that a prompt can order the first one that is asked to
 * fail and the next one to answer.
 */
export function beginChat(call: Call, prompt: string): Submission {
  const directives = directivesOf(call, prompt, 'messages');
  const orders = directives.at(call.counts.next('', 'chat', prompt));
  return refuseAsOrdered({ call, prompt, directives, orders });
}

function refuseAsOrdered(submission: Submission): Submission {
  const { call, orders } = submission;
  const fault = orders.choose('submit');
  if (fault === 'hang' || fault === 'reset') throw new EarlyAnswer({ kind: fault });
  if (fault === 'html') throw new EarlyAnswer(htmlPage());
  if (/^\d+$/.test(fault)) {
    throw new EarlyAnswer(call.voice.refuse(Number(fault), { text: orders.choose('text') }));
  }
  return submission;
}

export function createJob(
  submission: Submission,
  job: Pick<JobPlan, 'id' | 'ordered' | 'consumption'> & { readonly secondsByDefault: number },
): Job {
  const { call, prompt, directives, orders } = submission;
  call.entry.jobId = job.id;
  return call.jobs.create({
    id: job.id,
    vendor: call.vendor,
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
export async function waitUntilFinal(call: Call, job: Job): Promise<boolean> {
  if (job.outcome === 'stuck') return false;
  await sleep(job.seconds * 1000, undefined, { signal: call.closed });
  return true;
}

/** The job a path or query names; the vendor's 404 where there is none. */
export function requireJob(call: Call, id: string): Job {
  call.entry.jobId = id;
  const job = call.jobs.find(call.vendor, id);
  if (job === undefined) throw new EarlyAnswer(call.voice.refuse(404));
  call.entry.prompt = job.prompt;
  return job;
}

/** The orders for one more request of this kind about this job. */
export function nextOrders(call: Call, job: Job, kind: RequestKind): Orders {
  return job.directives.at(call.counts.next(call.vendor, kind, job.prompt));
}

/** What the vendor tells about the job now; ends the request here where the prompt orders a failed look. */
export function lookAtJob(call: Call, job: Job): Look {
  const poll = nextOrders(call, job, 'poll').choose('poll');
  if (poll === 'hang') throw new EarlyAnswer({ kind: 'hang' });
  if (poll === 'html') throw new EarlyAnswer(htmlPage());
  if (poll === 'not_found') throw new EarlyAnswer(call.voice.refuse(404, { text: job.text }));
  if (poll === '500' || poll === '429') {
    throw new EarlyAnswer(call.voice.refuse(Number(poll), { text: job.text }));
  }
  const state = poll === 'regress' ? regressed(call, job) : call.jobs.stateOf(job);
  const flappedProgress = FLAPPING_PROGRESS[job.looks % FLAPPING_PROGRESS.length] ?? 0;
  job.looks += 1;
  if (poll !== 'weird' && state.phase === 'succeeded') job.successesTold += 1;
  const flapping = poll === 'flap';
  return { state, weird: poll === 'weird', progress: flapping ? flappedProgress : state.progress, flapping };
}

function regressed(call: Call, job: Job): JobState {
  const state = call.jobs.stateOf(job);
  return state.phase === 'succeeded' && job.successesTold > 0 ? { phase: 'failed', progress: 100 } : state;
}

function directivesOf(call: Call, prompt: string, field: string): Directives {
  try {
    return readDirectives(prompt);
  } catch (error) {
    if (!(error instanceof DirectiveError)) throw error;
    throw new EarlyAnswer(call.voice.refuse(400, { message: error.message, field }));
  }
}
