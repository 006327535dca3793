// Reports the figures of the chat bench, and judges them by their goals.
import { printTable, quantile } from '../measure.ts';
import type { Verdict } from '../verdict.ts';
import type { Load, StreamTimes } from './load.ts';

export type Measurements = Map<
  string,
  { sequentialMs: number[]; at20: Load[]; at100: Load[]; streams: StreamTimes[] }
>;

/** Goals: the floors are those of the same run. */
const THROUGHPUT_GOAL = 0.7;
const CPU_MS_GOAL = 0.35;
const SEQUENTIAL_MS_GOAL = 1;
const HOT_ACCOUNT_GOAL = 0.8;
/** Ours: the row of a key is written twice, and its answer encrypted. */
const KEYED_GOAL = 0.5;
const FIRST_CHUNK_MS_GOAL = 1.5;
const FURTHER_CHUNK_MS_GOAL = 0.1;
/** Chunks with text after the first one, as `bench/chat/upstream.ts` sends them. */
const FURTHER_CHUNKS = 19;

/** Prints all figures. */
export function printMeasurements(measured: Measurements): void {
  const rows = [...measured].map(([name, figures]) => {
    const { one, at20, at100, firstMs, totalMs } = summarise(figures);
    return [
      name,
      one.toFixed(2),
      at20.perSecond.toFixed(0),
      at20.p99Ms.toFixed(0),
      at20.cpuMs.toFixed(2),
      at100.perSecond.toFixed(0),
      at100.p99Ms.toFixed(0),
      firstMs.toFixed(1),
      totalMs.toFixed(1),
    ];
  });
  const head = ['target', 'one ms', '20/s', 'p99', 'cpu ms', '100/s', 'p99', 'first ms', 'total ms'];
  printTable([head, ...rows]);
  console.log();
}

/** Judges the gateway against the bare proxy and the accounting floor. */
export function judgeMeasurements(verdict: Verdict, measured: Measurements): void {
  const of = (prefix: string) => {
    const found = [...measured].find(([name]) => name.startsWith(prefix))?.[1];
    if (!found) throw new Error(`nothing was measured of ${prefix}`);
    return summarise(found);
  };
  const [bare, floor, hot, many] = [of('bare'), of('accounting'), of('gateway, one'), of('gateway, 1000')];
  const keyed = of('gateway, with keys');
  const rate = (measuredRate: Load, floorRate: Load) => {
    return { measured: measuredRate.perSecond, floor: floorRate.perSecond, unit: '/s' };
  };
  verdict.ratioAtLeast('calls at 20 connections', rate(many.at20, floor.at20), THROUGHPUT_GOAL);
  verdict.ratioAtLeast('calls at 100 connections', rate(many.at100, floor.at100), THROUGHPUT_GOAL);
  const hotRate = rate(hot.at100, many.at100);
  verdict.ratioAtLeast('one hot account at 100, against 1,000 accounts', hotRate, HOT_ACCOUNT_GOAL);
  const keyedRate = rate(keyed.at100, many.at100);
  verdict.ratioAtLeast('with an Idempotency-Key each at 100, against calls without', keyedRate, KEYED_GOAL);
  verdict.atMost(
    'processor time of a call at 20 connections: gateway, PostgreSQL, Redis',
    many.at20.cpuMs,
    CPU_MS_GOAL,
    ' ms',
    `${floor.at20.cpuMs.toFixed(2)} ms`,
  );
  const above = 'one call after the other: p50 above the floor';
  verdict.atMost(above, hot.one - floor.one, SEQUENTIAL_MS_GOAL, ' ms', `${floor.one.toFixed(2)} ms`);
  const laterMs = hot.firstMs - bare.firstMs;
  const first = 'first chunk of a stream: later than through the bare proxy';
  verdict.atMost(first, laterMs, FIRST_CHUNK_MS_GOAL, ' ms', `${bare.firstMs.toFixed(2)} ms`);
  const further = (hot.lastTextMs - bare.lastTextMs - laterMs) / FURTHER_CHUNKS;
  verdict.atMost(
    'each further chunk: later than the one before it was',
    further,
    FURTHER_CHUNK_MS_GOAL,
    ' ms',
  );
}

function summarise({ sequentialMs, at20, at100, streams }: NonNullable<ReturnType<Measurements['get']>>) {
  const middle = (pick: (times: StreamTimes) => number) => quantile(streams.map(pick), 0.5);
  return {
    one: quantile(sequentialMs, 0.5),
    at20: middleLoad(at20),
    at100: middleLoad(at100),
    firstMs: middle(({ firstMs }) => firstMs),
    lastTextMs: middle(({ lastTextMs }) => lastTextMs),
    totalMs: middle(({ totalMs }) => totalMs),
  };
}

function middleLoad(rounds: readonly Load[]): Load {
  const found = rounds.toSorted((one, other) => one.perSecond - other.perSecond)[
    Math.floor(rounds.length / 2)
  ];
  if (!found) throw new Error('nothing was measured');
  return found;
}
