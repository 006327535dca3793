// Polls and other requests about an existing job: finds the job and applies its prompt's directives.

import { EarlyAnswer, htmlPage } from './answers.ts';
import type { ActiveDirectives } from './directives.ts';
import type { Job, JobState } from './jobs.ts';
import type { RequestKind } from './request-counts.ts';
import { refuse } from './requests.ts';
import type { SandboxRequest } from './vendor-api.ts';

export interface PollResult {
  readonly state: JobState;
  /** True: the vendor reports UNKNOWN_STATUS instead of the state. */
  readonly hasUnknownStatus: boolean;
  /** Percent; with `isFlapping` not the true progress, and not always from 0 to 100. */
  readonly progress: number;
  readonly isFlapping: boolean;
}

/** A status that no vendor has; each API writes it in the case of its own statuses. */
export const UNKNOWN_STATUS = 'simmering';

const FLAPPING_PROGRESS = [50, 20, 250, -1];

/** The job that a path or a query names; ends the request with the vendor's 404 where there is none. */
export function requireJob(request: SandboxRequest, id: string): Job {
  request.entry.jobId = id;
  const job = request.jobs.find(request.vendor, id) ?? refuse(request, 404);
  request.entry.prompt = job.prompt;
  return job;
}

/** Counts one more request of this kind about the job and returns the directives in force for it. */
export function nextDirectives(request: SandboxRequest, job: Job, kind: RequestKind): ActiveDirectives {
  return job.directives.at(request.counts.next(request.vendor, kind, job.prompt));
}

/** What the vendor reports of the job now; ends the request where a directive lets the poll fail. */
export function pollJob(request: SandboxRequest, job: Job): PollResult {
  const poll = nextDirectives(request, job, 'poll').choose('poll');
  if (poll === 'hang') throw new EarlyAnswer({ kind: 'hang' });
  if (poll === 'html') throw new EarlyAnswer(htmlPage());
  if (poll === 'not_found') refuse(request, 404, { text: job.text });
  if (poll === '500' || poll === '429') refuse(request, Number(poll), { text: job.text });
  const state = poll === 'regress' ? regressedState(request, job) : request.jobs.stateOf(job);
  const flappingProgress = FLAPPING_PROGRESS[job.polls % FLAPPING_PROGRESS.length] ?? 0;
  const hasUnknownStatus = poll === 'weird';
  const isFlapping = poll === 'flap';
  job.polls += 1;
  if (!hasUnknownStatus && state.phase === 'succeeded') job.successesReported += 1;
  return { state, hasUnknownStatus, progress: isFlapping ? flappingProgress : state.progress, isFlapping };
}

function regressedState(request: SandboxRequest, job: Job): JobState {
  const state = request.jobs.stateOf(job);
  const isTakenBack = state.phase === 'succeeded' && job.successesReported > 0;
  return isTakenBack ? { phase: 'failed', progress: 100 } : state;
}
