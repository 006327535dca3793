// How long jobs of a model usually take, by the last ones that this process saw ending.

/** Most jobs take longer than `fromMs` and no longer than `untilMs`, both since their hand-over. */
export interface UsualDuration {
  fromMs: number;
  untilMs: number;
}

/** How old a job was at two polls, between which it ended. */
export interface SeenDuration {
  /** At the last poll that found it unfinished. */
  unfinishedMs: number;
  /** At the poll that found it finished. */
  finishedMs: number;
}

export interface JobDurations {
  note(model: string, duration: SeenDuration): void;
  /** Null while too few of the model's jobs have ended here. */
  usualOf(model: string): UsualDuration | null;
}

/** Jobs of a model that are remembered, the newest. */
const REMEMBERED_MAX = 40;
/** Fewer than this say nothing. */
const JOBS_MIN = 5;
/** A tenth of the jobs may be quicker, and a tenth slower. */
const QUICK_SHARE = 0.1;

interface Remembered {
  seen: SeenDuration[];
  usual: UsualDuration | null;
}

export function createJobDurations(): JobDurations {
  const models = new Map<string, Remembered>();
  return {
    note: (model, duration) => {
      const seen = [...(models.get(model)?.seen ?? []), duration].slice(-REMEMBERED_MAX);
      models.set(model, { seen, usual: seen.length < JOBS_MIN ? null : usualDurationOf(seen) });
    },
    usualOf: (model) => models.get(model)?.usual ?? null,
  };
}

function usualDurationOf(seen: readonly SeenDuration[]): UsualDuration {
  return {
    fromMs: quantile(
      seen.map(({ unfinishedMs }) => unfinishedMs),
      QUICK_SHARE,
    ),
    untilMs: quantile(
      seen.map(({ finishedMs }) => finishedMs),
      1 - QUICK_SHARE,
    ),
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * share)] ?? 0;
}
