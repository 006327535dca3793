// Reports the figures of the chat bench against their goals.
import { printTable, quantile } from '../measure.ts';
import type { Load, StreamTimes } from './load.ts';

export type Measurements = Map<
  string,
  { sequentialMs: number[]; at20: Load[]; at100: Load[]; streams: StreamTimes[] }
>;

export function reportChat(measured: Measurements): void {
  const rows = [...measured].map(([name, { sequentialMs, at20, at100, streams }]) => {
    const [twenty, hundred] = [middleLoad(at20), middleLoad(at100)];
    return [
      name,
      quantile(sequentialMs, 0.5).toFixed(2),
      twenty.perSecond.toFixed(0),
      twenty.p99Ms.toFixed(0),
      twenty.cpuMs.toFixed(2),
      hundred.perSecond.toFixed(0),
      hundred.p99Ms.toFixed(0),
      quantile(
        streams.map(({ firstMs }) => firstMs),
        0.5,
      ).toFixed(1),
      quantile(
        streams.map(({ totalMs }) => totalMs),
        0.5,
      ).toFixed(1),
    ];
  });
  const head = ['target', 'one ms', '20/s', 'p99', 'cpu ms', '100/s', 'p99', 'first ms', 'total ms'];
  printTable([head, ...rows]);
  console.log();
  for (const line of judgements(measured)) console.log(line);
}

function judgements(measured: Measurements): string[] {
  const of = (prefix: string) => {
    const found = [...measured].find(([name]) => name.startsWith(prefix))?.[1];
    if (!found) throw new Error(`nothing was measured of ${prefix}`);
    const first = quantile(
      found.streams.map(({ firstMs }) => firstMs),
      0.5,
    );
    const one = quantile(found.sequentialMs, 0.5);
    return { one, first, at20: middleLoad(found.at20), at100: middleLoad(found.at100) };
  };
  const [bare, floor, hot, many] = [of('bare'), of('accounting'), of('gateway, one'), of('gateway, 1000')];
  return [
    atLeast('throughput at 20 against the floor', many.at20.perSecond / floor.at20.perSecond, 0.7),
    atLeast('throughput at 100 against the floor', many.at100.perSecond / floor.at100.perSecond, 0.7),
    atLeast('one hot account against many, at 100', hot.at100.perSecond / many.at100.perSecond, 0.5),
    atMost('sequential: milliseconds above the floor', hot.one - floor.one, 1.5),
    atMost('processor milliseconds per call at 20', hot.at20.cpuMs, 0.6),
    atMost('first piece of a stream: milliseconds after the bare proxy', hot.first - bare.first, 2),
  ];
}

function atLeast(what: string, value: number, goal: number): string {
  return `${value >= goal ? 'met   ' : 'MISSED'}  ${what}: ${value.toFixed(2)} (goal: at least ${goal})`;
}

function atMost(what: string, value: number, goal: number): string {
  return `${value <= goal ? 'met   ' : 'MISSED'}  ${what}: ${value.toFixed(2)} (goal: at most ${goal})`;
}

function middleLoad(rounds: readonly Load[]): Load {
  const found = rounds.toSorted((one, other) => one.perSecond - other.perSecond)[
    Math.floor(rounds.length / 2)
  ];
  if (!found) throw new Error('nothing was measured');
  return found;
}
