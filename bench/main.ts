// `npm run bench -- NAME` measures one part of the product; `all`, or `all NAME…`, writes
// docs/performance.md.
import { describeError } from '../dev/terminal.ts';
import { BENCHES } from './benches.ts';
import { writePerformancePage, type BenchResult } from './page.ts';
import { BENCH_SIZE } from './size.ts';
import type { Row } from './verdict.ts';

const FAILED: Row = {
  what: 'the whole bench',
  goal: 'exact',
  measured: 'ended with an error',
  floor: null,
  ratio: null,
  outcome: 'broken',
};

/** Runs one bench. An error is printed, makes the process exit with 1, and is a row of its own. */
async function run(name: string, bench: () => Promise<readonly Row[]>): Promise<BenchResult> {
  console.log(`bench ${name}, size ${BENCH_SIZE}`);
  try {
    return { name, rows: await bench() };
  } catch (error) {
    console.error(describeError(error));
    process.exitCode = 1;
    return { name, rows: [FAILED] };
  }
}

const [name = '', ...chosen] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench) await run(name, bench);
else if (name === 'all') {
  const results: BenchResult[] = [];
  for (const [each, one] of Object.entries(BENCHES))
    if (chosen.length === 0 || chosen.includes(each)) results.push(await run(each, one));
  writePerformancePage(results);
} else {
  console.error(`usage: npm run bench -- ${[...Object.keys(BENCHES), 'all [NAME…]'].join(' | ')}`);
  process.exitCode = 1;
}
