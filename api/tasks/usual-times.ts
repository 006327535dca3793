// Keeps for a minute how long tasks usually take: it changes slowly, and many pages show it.
import type { Database } from '../../db/database.ts';
import { forkEm } from '../../db/database.ts';
import { readUsualSeconds, type UsualSeconds } from '../../db/tasks/usual-times.ts';

export interface UsualTimes {
  /** By model id; a model that has too few recent completions is missing. */
  read(models: readonly string[]): Promise<ReadonlyMap<string, UsualSeconds>>;
}

const KEPT_MS = 60_000;

export function createUsualTimes(database: Database): UsualTimes {
  let kept: { at: number; times: Promise<ReadonlyMap<string, UsualSeconds>> } | null = null;
  return {
    read: (models) => {
      const now = performance.now();
      if (!kept || now - kept.at > KEPT_MS) {
        const times = readUsualSeconds(forkEm(database), models);
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
