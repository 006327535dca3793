// When jobs of a model usually end, by the last ones that this process saw ending.

export interface UsualEnd {
  /** Ages of jobs between which most of them end, in milliseconds. */
  fromMs: number;
  untilMs: number;
}

/** A job that was found finished: it ended between two looks. */
export interface SeenEnd {
  /** Its age at the last look that found it unfinished, in milliseconds. */
  unfinishedMs: number;
  finishedMs: number;
}

export interface UsualEnds {
  note(model: string, end: SeenEnd): void;
  /** Null while too few of the model's jobs have ended here. */
  of(model: string): UsualEnd | null;
}

/** Jobs of a model that are remembered, the newest. */
const REMEMBERED_MAX = 40;
/** Fewer than this say nothing. */
const ENDS_MIN = 5;
/** A tenth of the jobs may end earlier, and a tenth later. */
const EARLY_SHARE = 0.1;

interface Remembered {
  ends: SeenEnd[];
  usual: UsualEnd | null;
}

export function createUsualEnds(): UsualEnds {
  const models = new Map<string, Remembered>();
  return {
    note: (model, end) => {
      const ends = [...(models.get(model)?.ends ?? []), end].slice(-REMEMBERED_MAX);
      models.set(model, { ends, usual: ends.length < ENDS_MIN ? null : usualEndOf(ends) });
    },
    of: (model) => models.get(model)?.usual ?? null,
  };
}

function usualEndOf(ends: readonly SeenEnd[]): UsualEnd {
  return {
    fromMs: quantile(
      ends.map(({ unfinishedMs }) => unfinishedMs),
      EARLY_SHARE,
    ),
    untilMs: quantile(
      ends.map(({ finishedMs }) => finishedMs),
      1 - EARLY_SHARE,
    ),
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * share)] ?? 0;
}
