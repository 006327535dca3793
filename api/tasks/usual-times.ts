// Keeps for a minute how long tasks usually take: it changes slowly, and many pages show it.
import { forkEm, type Database } from '../../db/database.ts';
import { readUsualSeconds, type UsualSeconds } from '../../db/tasks/usual-times.ts';

export interface UsualTimes {
  /** By model id, whatever the caller may use; a model with too few recent completions is missing. */
  read(): Promise<ReadonlyMap<string, UsualSeconds>>;
}

const KEPT_MS = 60_000;

/** `modelIds`: all models of the catalogue. */
export function createUsualTimes(database: Database, modelIds: readonly string[]): UsualTimes {
  let kept: { at: number; times: Promise<ReadonlyMap<string, UsualSeconds>> } | null = null;
  return {
    read: () => {
      const now = performance.now();
      if (!kept || now - kept.at > KEPT_MS) {
        const times = readUsualSeconds(forkEm(database), modelIds);
        kept = { at: now, times };
        // A failure is not kept: the next reader tries again.
        times.catch(() => {
          kept = null;
        });
      }
      return kept.times;
    },
  };
}
