/** The jobs the vendors work on. A job's state is a function of the clock: nothing runs in between. */

import { LruMap } from './newest.ts';
import type { Choice, Directives } from './directives.ts';
import type { Consumption } from './evidence.ts';

export type FinalPhase = 'succeeded' | 'failed' | 'moderated' | 'expired' | 'cancelled';

export interface JobState {
  readonly phase: 'queued' | 'running' | FinalPhase;
  /** 0 to 100. */
  readonly progress: number;
}

/** What was ordered from the vendor, in the vendor's words, without the prompt: small enough to keep and show. */
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
  /** Undefined: as many as ordered. */
  readonly deliver: number | undefined;
  readonly ordered: Ordered;
  /** What the job honestly consumes if it succeeds, in the words the vendor's answer has for it. */
  readonly consumption: Consumption;
}

export interface Job extends JobPlan {
  readonly createdAtMs: number;
  cancelledAtMs: number | null;
  /** How often its state was asked for and told. */
  looks: number;
  /** How often success was told: after the first, `poll=regress` tells failure. */
  successesTold: number;
}

const JOBS_KEPT = 20_000;
const QUEUED_FRACTION = 0.5;
const LAST_PROGRESS_BEFORE_END = 99;

const END: Readonly<Record<Exclude<Choice<'outcome'>, 'stuck'>, FinalPhase>> = {
  succeed: 'succeeded',
  fail: 'failed',
  moderated: 'moderated',
  expire: 'expired',
  cancelled: 'cancelled',
};

export class Jobs {
  readonly #jobs = new LruMap<Job>(JOBS_KEPT);
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  create(plan: JobPlan): Job {
    const job: Job = {
      ...plan,
      createdAtMs: this.#nowMs(),
      cancelledAtMs: null,
      looks: 0,
      successesTold: 0,
    };
    this.#jobs.set(keyOf(job.vendor, job.id), job);
    return job;
  }

  find(vendor: string, id: string): Job | undefined {
    return this.#jobs.get(keyOf(vendor, id));
  }

  /** Newest first. */
  of(vendor: string): Job[] {
    return this.#jobs
      .values()
      .filter((job) => job.vendor === vendor)
      .toReversed();
  }

  cancel(job: Job): void {
    job.cancelledAtMs ??= this.#nowMs();
  }

  stateOf(job: Job): JobState {
    if (job.cancelledAtMs !== null) return { phase: 'cancelled', progress: 0 };
    const elapsedSeconds = (this.#nowMs() - job.createdAtMs) / 1000;
    const fraction = job.seconds === 0 ? 1 : Math.min(1, elapsedSeconds / job.seconds);
    if (fraction === 1 && job.outcome !== 'stuck') return { phase: END[job.outcome], progress: 100 };
    return {
      phase: fraction < QUEUED_FRACTION ? 'queued' : 'running',
      progress: Math.min(LAST_PROGRESS_BEFORE_END, Math.floor(fraction * 100)),
    };
  }

  /** Oldest first, without the prompts. */
  about(text: string): object[] {
    return this.#jobs
      .values()
      .filter((job) => job.prompt.includes(text))
      .map((job) => ({
        id: job.id,
        vendor: job.vendor,
        createdAt: new Date(job.createdAtMs).toISOString(),
        cancelledAt: job.cancelledAtMs === null ? null : new Date(job.cancelledAtMs).toISOString(),
        state: this.stateOf(job).phase,
        progress: this.stateOf(job).progress,
        looks: job.looks,
        ordered: job.ordered,
      }));
  }
}

function keyOf(vendor: string, id: string): string {
  return `${vendor} ${id}`;
}
