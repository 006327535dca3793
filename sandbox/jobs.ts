// The jobs of all vendors. A job's state is a function of the clock; no timer runs in between.

import { LRUCache } from 'lru-cache';
import type { Choice, Directives } from './directives.ts';
import type { Consumption } from './evidence.ts';

export type FinalPhase = 'succeeded' | 'failed' | 'moderated' | 'expired' | 'cancelled';

export interface JobState {
  readonly phase: 'queued' | 'running' | FinalPhase;
  /** Percent, 0 to 100. */
  readonly progress: number;
}

/** What was ordered, in the vendor's terms and without the prompt: small enough to keep and to show. */
export type Ordered = Readonly<Record<string, string | number | boolean | null>>;

/** Everything about a job that its submission decides. */
export interface JobPlan {
  readonly id: string;
  readonly vendor: string;
  readonly prompt: string;
  readonly directives: Directives;
  readonly seconds: number;
  readonly outcome: Choice<'outcome'>;
  readonly reason: Choice<'reason'>;
  readonly text: Choice<'text'>;
  readonly usage: Choice<'usage'>;
  /** Number of results to deliver; null for as many as ordered. */
  readonly deliver: number | null;
  readonly ordered: Ordered;
  /** What the job really consumes if it succeeds, named as in the vendor's answer. */
  readonly consumption: Consumption;
}

export interface Job extends JobPlan {
  readonly createdAtMs: number;
  cancelledAtMs: number | null;
  /** Number of polls that were answered with the job's state. */
  polls: number;
  /** Number of polls that reported success: after the first, `poll=regress` reports failure. */
  successesReported: number;
}

const JOBS_MAX = 20_000;
const QUEUED_FRACTION = 0.5;
const PROGRESS_BEFORE_END_MAX = 99;

const FINAL_PHASES: Readonly<Record<Exclude<Choice<'outcome'>, 'stuck'>, FinalPhase>> = {
  succeed: 'succeeded',
  fail: 'failed',
  moderated: 'moderated',
  expire: 'expired',
  cancelled: 'cancelled',
};

export class Jobs {
  readonly #jobs: LRUCache<string, Job>;
  readonly #nowMs: () => number;

  /** Keeps the newest `jobsMax` jobs. */
  constructor(nowMs: () => number, jobsMax = JOBS_MAX) {
    this.#jobs = new LRUCache({ max: jobsMax });
    this.#nowMs = nowMs;
  }

  create(plan: JobPlan): Job {
    const createdAtMs = this.#nowMs();
    const job: Job = { ...plan, createdAtMs, cancelledAtMs: null, polls: 0, successesReported: 0 };
    this.#jobs.set(keyOf(job.vendor, job.id), job);
    return job;
  }

  /** Null for a job that never was or is no longer kept. Finding a job does not keep it for longer. */
  find(vendor: string, id: string): Job | null {
    return this.#jobs.peek(keyOf(vendor, id)) ?? null;
  }

  /** The vendor's jobs, newest first. */
  listOf(vendor: string): Job[] {
    return [...this.#jobs.values()].filter((job) => job.vendor === vendor);
  }

  cancel(job: Job): void {
    job.cancelledAtMs ??= this.#nowMs();
  }

  stateOf(job: Job): JobState {
    if (job.cancelledAtMs !== null) return { phase: 'cancelled', progress: 0 };
    const elapsedSeconds = (this.#nowMs() - job.createdAtMs) / 1000;
    const fraction = job.seconds === 0 ? 1 : Math.min(1, elapsedSeconds / job.seconds);
    if (fraction === 1 && job.outcome !== 'stuck') return { phase: FINAL_PHASES[job.outcome], progress: 100 };
    return {
      phase: fraction < QUEUED_FRACTION ? 'queued' : 'running',
      progress: Math.min(PROGRESS_BEFORE_END_MAX, Math.floor(fraction * 100)),
    };
  }

  /** Jobs whose prompt contains the text, oldest first, without the prompts. */
  search(text: string): object[] {
    return [...this.#jobs.values()]
      .toReversed()
      .filter((job) => job.prompt.includes(text))
      .map((job) => ({
        id: job.id,
        vendor: job.vendor,
        createdAt: new Date(job.createdAtMs).toISOString(),
        cancelledAt: job.cancelledAtMs === null ? null : new Date(job.cancelledAtMs).toISOString(),
        state: this.stateOf(job).phase,
        progress: this.stateOf(job).progress,
        looks: job.polls,
        ordered: job.ordered,
      }));
  }
}

function keyOf(vendor: string, id: string): string {
  return `${vendor} ${id}`;
}
