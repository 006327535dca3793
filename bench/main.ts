// `npm run bench -- NAME…` measures parts of the product, `all` all of them, and writes docs/performance.md.
import { describeError } from '../dev/terminal.ts';
import { BENCHES } from './benches.ts';
import { beginRun, writeRun } from './page.ts';
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

const names = process.argv.slice(2).flatMap((name) => (name === 'all' ? Object.keys(BENCHES) : [name]));
if (names.length === 0 || names.some((name) => !Object.hasOwn(BENCHES, name))) {
  console.error(`usage: npm run bench -- all | NAME…, with ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 1;
} else for (const name of names) await run(name);

/** Runs one bench. An error is printed, makes the process exit with 1, and is a row of its own. */
async function run(name: string): Promise<void> {
  console.log(`bench ${name}, size ${BENCH_SIZE}`);
  const begun = beginRun();
  const rows = (await BENCHES[name]?.().catch(report)) ?? [FAILED];
  writeRun({ name, rows, ...begun });
}

function report(error: unknown): null {
  console.error(describeError(error));
  process.exitCode = 1;
  return null;
}
