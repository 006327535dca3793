// Writes what was measured into docs/performance.md: a section per bench, each replaced on its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { describeMachine, readCommit, readLoad } from '../dev/machine.ts';
import { BENCH_SIZE } from './size.ts';
import type { Row } from './verdict.ts';

export const PERFORMANCE_PAGE = 'docs/performance.md';
const BEGIN = '<!-- measured: begin -->';
const END = '<!-- measured: end -->';

export interface BenchRun {
  name: string;
  rows: readonly Row[];
  startedAt: Date;
  /** Processes that wanted a processor when the run began, on average over a minute. */
  loadBefore: number;
}

/** Notes when and beside how much other work a run begins. */
export function beginRun(): Pick<BenchRun, 'startedAt' | 'loadBefore'> {
  return { startedAt: new Date(), loadBefore: readLoad() };
}

/** Replaces the section of this bench on the page; sections of others stay as they are. */
export function writeRun(run: BenchRun): void {
  writeFileSync(PERFORMANCE_PAGE, replaceSection(readFileSync(PERFORMANCE_PAGE, 'utf8'), run));
}

/** Returns the page with the run in the place of the bench's earlier run, or behind all others. */
export function replaceSection(page: string, run: BenchRun): string {
  const [before, rest] = page.split(BEGIN);
  const [measured, after] = (rest ?? '').split(END);
  if (before === undefined || measured === undefined || after === undefined)
    throw new Error(`${PERFORMANCE_PAGE} has lost its markers`);
  const heading = `### \`${run.name}\`\n`;
  const sections = measured.split(/^(?=### )/m).map((section) => section.trim());
  const others = sections.filter((section) => section !== '');
  const section = `${heading}\n${[...describeRun(run), '', ...describeRows(run.rows)].join('\n')}`;
  const place = others.findIndex((each) => each.startsWith(heading));
  if (place < 0) others.push(section);
  else others[place] = section;
  return `${before}${BEGIN}\n\n${others.join('\n\n')}\n\n${END}${after}`;
}

function describeRun({ name, startedAt, loadBefore }: BenchRun): string[] {
  const size = BENCH_SIZE === 'full' ? '' : `BENCH_SIZE=${BENCH_SIZE} `;
  return [
    `- \`${size}npm run bench -- ${name}\`, ${startedAt.toISOString().slice(0, 10)}, commit ${readCommit(PERFORMANCE_PAGE)}`,
    `- ${describeMachine(loadBefore)}`,
  ];
}

function describeRows(rows: readonly Row[]): string[] {
  return [
    '| what | goal | measured | floor | ratio | result |',
    '|---|---|---|---|---|---|',
    ...rows.map(describeRow),
  ];
}

function describeRow({ what, goal, measured, floor, ratio, outcome }: Row): string {
  const result = outcome === 'met' ? 'met' : `**${outcome}**`;
  return `| ${[what, goal, measured, floor ?? '', ratio ?? '', result].map(cell).join(' | ')} |`;
}

/** An empty cell is written as a dash: the page has no padding that would keep its columns apart. */
function cell(text: string): string {
  return text === '' ? '–' : text.replaceAll('|', '/');
}
