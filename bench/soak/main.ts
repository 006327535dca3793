// `npm run soak`: mixed load with faults, set by SOAK_SECONDS, SOAK_SEED, SOAK_LOAD and SOAK_FAULTS.
import { describeError } from '../../dev/terminal.ts';
import { printTable } from '../measure.ts';
import { soak, type SoakReport } from './soak.ts';

const FAULT_KINDS = ['none', 'gentle', 'all'] as const;
const seed = Number(process.env['SOAK_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(process.env['SOAK_SECONDS'] ?? 1_200);
const load = Number(process.env['SOAK_LOAD'] ?? 0.6);
const faults = FAULT_KINDS.find((kind) => kind === (process.env['SOAK_FAULTS'] ?? 'all'));

if (!(seed >= 0 && seconds > 0 && load > 0) || !faults) {
  console.error('SOAK_SEED, SOAK_SECONDS and SOAK_LOAD are numbers; SOAK_FAULTS is none, gentle or all');
  process.exit(1);
}
console.log(`seed ${seed}: SOAK_SEED=${seed} draws the same stories and faults again`);
try {
  const report = await soak({
    ...{ seed, seconds, load, faults, peakSeconds: 20, settleSeconds: 180 },
    faultPauseSeconds: seconds < 300 ? [4, 10] : [10, 30],
    thresholds: {
      warmUpSeconds: 90, // the worker's cache of workflows fills up
      ...{ memoryGrowth: 0.15, memoryGrowthMb: 20, descriptorsGrowth: 20, loopDelayMs: 250 },
    },
    say: (line) => console.log(`· ${line}`),
  });
  print(report);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(`seed ${seed}: ${describeError(error)}`);
  process.exitCode = 1;
}

function print({ counts, played, faults, judged, ended, problems }: SoakReport): void {
  const statuses = [...counts.byStatus].toSorted(([one], [other]) => one - other);
  printTable([
    ['status', 'answers'],
    ...statuses.map((row) => row.map(String)),
    ['none', `${counts.unanswered}`],
    ['caller left', `${counts.disconnected}`],
  ]);
  console.log('');
  printTable([['story', 'played'], ...byName(played)]);
  console.log('');
  printTable([['fault', 'times'], ...byName(faults)]);
  console.log('');
  const pair = (values: readonly number[] | null): string => values?.join(' → ') ?? 'not judged';
  printTable([
    ['process', 'memory in MB', 'open files', 'loop delay p99 in ms'],
    ...judged.map(({ part, memoryMb, descriptors, loopDelayMs }) => [
      ...[part, pair(memoryMb), pair(descriptors), String(loopDelayMs)],
    ]),
  ]);
  const { completed, charges, settledAfterSeconds } = ended;
  console.log(
    `\n${completed} tasks completed, ${charges} charged; everything ended after ${settledAfterSeconds} s`,
  );
  if (problems.length === 0) return console.log('passed');
  console.error(`\nnot passed, seed ${seed}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
}

function byName(counts: ReadonlyMap<string, number>): string[][] {
  return [...counts.keys()].toSorted().map((name) => [name, String(counts.get(name))]);
}
