// Writes the measured part of docs/performance.md; what stands around it is written by hand.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type as systemType } from 'node:os';
import { BENCH_SIZE } from './size.ts';
import type { Row } from './verdict.ts';

export const PERFORMANCE_PAGE = 'docs/performance.md';
const BEGIN = '<!-- measured: begin -->';
const END = '<!-- measured: end -->';

export interface BenchResult {
  name: string;
  rows: readonly Row[];
}

/** Replaces the measured part of the page. */
export function writePerformancePage(results: readonly BenchResult[], now: Date = new Date()): void {
  const page = readFileSync(PERFORMANCE_PAGE, 'utf8');
  const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]];
  if (before === undefined || after === undefined)
    throw new Error(`${PERFORMANCE_PAGE} has lost its markers`);
  const measured = [BEGIN, '', ...describeRun(now), '', ...describeRows(results), '', END].join('\n');
  writeFileSync(PERFORMANCE_PAGE, `${before}${measured}${after}`);
}

/** Returns the names of the benches whose rows the page holds. */
export function benchesOnPage(page: string): string[] {
  const part = page.split(BEGIN)[1]?.split(END)[0] ?? '';
  return [...new Set([...part.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name))];
}

function describeRun(now: Date): string[] {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown';
  const size = BENCH_SIZE === 'full' ? '' : `BENCH_SIZE=${BENCH_SIZE} `;
  return [
    `- Command: \`${size}npm run bench -- ${process.argv.slice(2).join(' ')}\``,
    `- Date: ${now.toISOString().slice(0, 10)}, at commit ${readCommit()}`,
    `- Machine: ${processors.length} cores (${model}), ${(totalmem() / 1024 ** 3).toFixed(0)} GiB of memory`,
    `- System: ${systemType()} ${release()}, Node ${process.version}`,
  ];
}

function readCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ', with changes';
  return `${git('rev-parse', '--short', 'HEAD')}${changed}`;
}

function describeRows(results: readonly BenchResult[]): string[] {
  const rows = results.flatMap(({ name, rows: own }) => own.map((row) => describeRow(name, row)));
  return [
    '| bench | what | goal | measured | floor | ratio | result |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ];
}

function describeRow(name: string, { what, goal, measured, floor, ratio, outcome }: Row): string {
  const result = outcome === 'met' ? 'met' : `**${outcome}**`;
  return `| \`${name}\` | ${[what, goal, measured, floor ?? '', ratio ?? '', result].map(cell).join(' | ')} |`;
}

/** An empty cell is written as a dash: the page has no padding that would keep its columns apart. */
function cell(text: string): string {
  return text === '' ? '–' : text.replaceAll('|', '/');
}
