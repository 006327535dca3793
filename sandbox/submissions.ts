// Submissions: checks the caller's key, applies the directive `submit` and creates the job.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, EarlyAnswer, htmlPage } from './answers.ts';
import { type ActiveDirectives, DirectiveError, type Directives, readDirectives } from './directives.ts';
import type { Job, JobPlan } from './jobs.ts';
import { refuse, requireBearerKey } from './requests.ts';
import type { SandboxRequest } from './vendor-api.ts';

export interface Submission {
  readonly request: SandboxRequest;
  readonly prompt: string;
  readonly directives: Directives;
  readonly active: ActiveDirectives;
}

/**
 * Notes the prompt in the journal, checks the caller and reads the directives.
 * Ends the request where the caller is refused or a directive says so; nothing has been created by then.
 */
export function beginSubmission(
  request: SandboxRequest,
  prompt: string,
  checkCaller: (request: SandboxRequest) => unknown = requireBearerKey,
): Submission {
  request.entry.prompt = prompt;
  checkCaller(request);
  const directives = directivesOf(request, prompt, 'prompt');
  const active = directives.at(request.counts.next(request.vendor, 'submit', prompt));
  return refuseAsDirected({ request, prompt, directives, active });
}

/**
 * Begins a chat as `beginSubmission` does. The vendors share one count, so that a directive can let the first
 * vendor that is asked fail and the next one answer.
 */
export function beginChat(request: SandboxRequest, prompt: string): Submission {
  request.entry.prompt = prompt;
  requireBearerKey(request);
  const directives = directivesOf(request, prompt, 'messages');
  const active = directives.at(request.counts.next('', 'chat', prompt));
  return refuseAsDirected({ request, prompt, directives, active });
}

/** Creates the job, whose id ends with NUL under `submit=nul_id`. */
export function createJob(
  { request, prompt, directives, active }: Submission,
  job: Pick<JobPlan, 'id' | 'ordered' | 'consumption'> & { readonly secondsByDefault: number },
): Job {
  const id = active.choose('submit') === 'nul_id' ? `${job.id}\0` : job.id;
  request.entry.jobId = id;
  return request.jobs.create({
    id,
    vendor: request.vendor,
    prompt,
    directives,
    seconds: active.number('seconds') ?? job.secondsByDefault,
    outcome: active.choose('outcome'),
    reason: active.choose('reason'),
    text: active.choose('text'),
    usage: active.choose('usage'),
    deliver: active.number('deliver'),
    ordered: job.ordered,
    consumption: job.consumption,
  });
}

/**
 * Answers a submission whose job exists: with `accepted`, or as the directive `submit` says.
 * `withoutId` is the same answer without the job's id.
 */
export function confirmSubmission(submission: Submission, accepted: Answer, withoutId: Answer): Answer {
  switch (submission.active.choose('submit')) {
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

/**
 * Waits for the job's end, for vendors that answer a submission with the result.
 * Returns false at once for a job that never ends; throws where the client disconnects meanwhile.
 */
export async function waitUntilFinal(request: SandboxRequest, job: Job): Promise<boolean> {
  if (job.outcome === 'stuck') return false;
  await sleep(job.seconds * 1000, undefined, { signal: request.closed });
  return true;
}

function refuseAsDirected(submission: Submission): Submission {
  const { request, active } = submission;
  const fault = active.choose('submit');
  if (fault === 'hang' || fault === 'reset') throw new EarlyAnswer({ kind: fault });
  if (fault === 'html') throw new EarlyAnswer(htmlPage());
  if (/^\d+$/.test(fault)) refuse(request, Number(fault), { text: active.choose('text') });
  return submission;
}

function directivesOf(request: SandboxRequest, prompt: string, field: string): Directives {
  try {
    return readDirectives(prompt);
  } catch (error) {
    if (!(error instanceof DirectiveError)) throw error;
    return refuse(request, 400, { message: error.message, field });
  }
}
