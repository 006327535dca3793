// The page of measurements: each bench has a section, and a new run replaces only its own.
import { expect } from 'chai';
import { replaceSection, type BenchRun } from '../../bench/page.ts';
import type { Row } from '../../bench/verdict.ts';

const PAGE = 'Above.\n\n<!-- measured: begin -->\n<!-- measured: end -->\n\nBelow.\n';

function runOf(name: string, measured: string): BenchRun {
  const row: Row = { what: 'calls', goal: '≥ 0.7', measured, floor: null, ratio: '0.8', outcome: 'met' };
  return { name, rows: [row], startedAt: new Date('2026-01-02T03:04:05Z'), loadBefore: 0.25 };
}

describe('the page of measurements', () => {
  it('gets a section for each bench, between what is written by hand', () => {
    const page = replaceSection(replaceSection(PAGE, runOf('chat', '900 /s')), runOf('tasks', '9 /s'));
    expect(page).to.match(/^Above\.[\s\S]*### `chat`[\s\S]*### `tasks`[\s\S]*Below\.\n$/);
    expect(page).to.include('| calls | ≥ 0.7 | 900 /s | – | 0.8 | met |');
    expect(page).to.match(/`(BENCH_SIZE=\w+ )?npm run bench -- chat`, 2026-01-02, commit \w+/);
    expect(page).to.include('load before 0.3');
  });

  it('keeps the sections of other benches when one is run again', () => {
    const first = replaceSection(replaceSection(PAGE, runOf('chat', '900 /s')), runOf('tasks', '9 /s'));
    const again = replaceSection(first, runOf('chat', '800 /s'));
    expect(again).to.include('800 /s').and.include('| 9 /s |').and.not.include('900 /s');
    expect(again.match(/^### /gm)).to.have.length(2);
  });

  it('is refused when it has lost its markers', () => {
    expect(() => replaceSection('No markers.', runOf('chat', '1 /s'))).to.throw('lost its markers');
  });
});
