// Prints the report of a soak.
import { printTable } from '../measure.ts';
import type { SoakReport } from './soak.ts';
import type { Thirds } from './watch.ts';

export function printReport({ counts, played, faults, judged, ended, problems }: SoakReport): void {
  const statuses = [...counts.byStatus].toSorted(([one], [other]) => one - other);
  printTable([
    ['status', 'answers'],
    ...statuses.map((row) => row.map(String)),
    ['none', `${counts.unanswered}`],
    ['of the proxy', `${counts.ofProxy}`],
    ['caller left', `${counts.disconnected}`],
  ]);
  console.log('');
  printTable([['story', 'played'], ...byName(played)]);
  console.log('');
  printTable([['fault', 'times'], ...byName(faults)]);
  console.log('');
  printTable([
    ['process', 'memory in MB', 'open files', 'queues', 'loop delay p99 in ms'],
    ...judged.map(({ part, memoryMb, descriptors, queued, loopDelayMs }) => [
      ...[part, describeThirds(memoryMb), describeThirds(descriptors), describeThirds(queued)],
      describeThirds(loopDelayMs),
    ]),
  ]);
  const { completed, charges, settledAfterSeconds, longestOpenSeconds } = ended;
  console.log(
    `\n${completed} tasks completed, ${charges} charged; everything ended after ${settledAfterSeconds} s; ` +
      `no task was open for longer than ${longestOpenSeconds.toFixed(1)} s without a fault`,
  );
  if (problems.length === 0) return console.log('passed');
  console.error(`\nnot passed:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
}

/** The first third and the last, as a table shows them. */
export function describeThirds(values: Thirds | null): string {
  return values?.join(' → ') ?? 'not judged';
}

function byName(counts: ReadonlyMap<string, number>): string[][] {
  return [...counts.keys()].toSorted().map((name) => [name, String(counts.get(name))]);
}
