// What docs/scale.md shows of queues: measured costs, simulated at many times today's rate.
import { createChance } from '../soak/random.ts';
import { simulate, type Station } from './queue.ts';

/** The rate of `npm run bench -- tasks`. */
const TASKS_PER_SECOND = 34;
/** Processor time of a task by process, as `npm run bench -- tasks` prints it. */
const TASK_MS = { API: 6, Temporal: 23, PostgreSQL: 8, worker: 26 } as const;
/** Calls of one account, of `npm run bench -- chat`: their row is locked by one statement at a time. */
const ACCOUNT_CALLS_PER_SECOND = 6_515;
/** What a video takes at its vendor. */
const VIDEO_MS = 60_000;
const HOUR_SECONDS = 3_600;
/** Videos a second, and places: the least that a vendor names for an account is 5, the most 30. */
const VIDEOS = [
  [0.4, 30],
  [3, 30],
  [3, 300],
  [30, 300],
  [30, 3_000],
  [300, 3_000],
  [300, 30_000],
] as const;
const ITEMS = 100_000;
const SEED = 1;

export interface Table {
  heading: readonly string[];
  rows: readonly (readonly string[])[];
}

export const TABLES: Readonly<Record<string, () => Table>> = {
  processors: simulateProcessors,
  'one account': simulateAccount,
  vendors: simulateVendors,
};

/** Tasks through as many cores as the rate needs when they are used up to a share. */
function simulateProcessors(): Table {
  const rows = [1, 10, 100, 1_000].flatMap((times) =>
    [0.7, 0.95].map((share) => {
      const perSecond = TASKS_PER_SECOND * times;
      const stations = Object.entries(TASK_MS).map(([name, serviceMs]): Station => {
        return { name, serviceMs, servers: Math.ceil((perSecond * serviceMs) / 1_000 / share) };
      });
      const seen = simulate(stations, { perSecond, items: ITEMS }, createChance(SEED));
      const cores = stations.map(({ servers }) => String(servers));
      return [`${perSecond}`, `${share * 100} %`, ...cores, ...seen.map(({ waitP95Ms }) => say(waitP95Ms))];
    }),
  );
  const names = Object.keys(TASK_MS);
  const waits = names.map((name) => `wait for ${name}, p95 ms`);
  return { heading: ['tasks/s', 'used', ...names.map((name) => `${name}, cores`), ...waits], rows };
}

/** Calls of one account, whose row serves one after the other. */
function simulateAccount(): Table {
  const row = [{ name: 'row', servers: 1, serviceMs: 1_000 / ACCOUNT_CALLS_PER_SECOND }];
  const rows = [1_000, 3_000, 5_000, 6_400, 7_000].map((perSecond) => {
    const [seen] = simulate(row, { perSecond, items: ITEMS }, createChance(SEED));
    return [String(perSecond), say(seen?.waitP95Ms ?? 0), String(seen?.waiting ?? 0)];
  });
  return { heading: ['calls/s of one account', 'wait, p95 ms', `waiting after ${ITEMS} calls`], rows };
}

/** An hour of videos through the places that vendors' accounts have, too few and enough. */
function simulateVendors(): Table {
  const rows = VIDEOS.map(([perSecond, servers]) => {
    const places = [{ name: 'vendor', servers, serviceMs: VIDEO_MS }];
    const items = Math.round(perSecond * HOUR_SECONDS);
    const [seen] = simulate(places, { perSecond, items }, createChance(SEED));
    const { busy = 0, waitP95Ms = 0, waiting = 0 } = seen ?? {};
    const figures = [`${(busy * 100).toFixed(0)} %`, (waitP95Ms / 60_000).toFixed(1), String(waiting)];
    return [String(perSecond), String(servers), ...figures];
  });
  const heading = ['videos/s', 'places at vendors', 'used', 'wait, p95 minutes', 'waiting after an hour'];
  return { heading, rows };
}

function say(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}

/** Writes a table in Markdown, without padding. */
export function writeTable({ heading, rows }: Table): string {
  const lines = [heading, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.toSpliced(1, 0, `|${'---|'.repeat(heading.length)}`).join('\n');
}
