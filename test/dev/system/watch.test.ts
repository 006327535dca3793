// `npm run dev` restarts the programs whose sources change, and only those.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Terminal } from '../../../dev/terminal.ts';
import { watchPrograms, type Watching } from '../../../dev/system/watch.ts';
import { until } from '../../support/until.ts';

/** Longer than the watcher waits for a file to be written out. */
const SETTLED_MS = 300;

describe('watching the sources', () => {
  let folder = '';
  let watching: Watching;
  let restarted: string[];
  let failures: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'watch-'));
    mkdirSync(join(folder, 'shared'));
    write('api.ts', `import './shared/both.ts';\nimport type { Only } from './types.ts';`);
    write('worker.ts', `import './shared/both.ts';\nnew URL('./workflows.ts', import.meta.url);`);
    write('workflows.ts', '');
    write('types.ts', 'export type Only = string;');
    write('shared/both.ts', `export const value: number = 1;`);
    write('catalog.json', '{}');
    restarted = [];
    failures = [];
    const program = (name: string, ...entries: string[]) => ({
      name,
      entries: entries.map((entry) => join(folder, entry)),
      restart: async () => void restarted.push(name),
    });
    watching = watchPrograms([program('api', 'api.ts', 'catalog.json'), program('worker', 'worker.ts')], {
      ...terminal,
      fail: (message) => void failures.push(message),
    });
  });
  afterEach(() => {
    watching.close();
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const expectRestarts = async (...names: string[]): Promise<void> => {
    await until('programs restart', async () => restarted.length >= names.length);
    await sleep(SETTLED_MS);
    expect(restarted.toSorted()).to.deep.equal(names);
  };

  it('restarts every program that imports what changed', async () => {
    write('shared/both.ts', `export const value: number = 2;`);
    await expectRestarts('api', 'worker');
  });

  it('restarts one program for what it alone imports, loads by path, or reads at its start', async () => {
    write('workflows.ts', 'export {};');
    await expectRestarts('worker');
    write('catalog.json', '{ }');
    await expectRestarts('api', 'worker');
  });

  it('sees a file that an editor puts in the place of the old one, and what is imported anew', async () => {
    mkdirSync(join(folder, 'later'));
    write('later/new.ts', 'export {};');
    write('api.ts.saved', `import './later/new.ts';`);
    renameSync(join(folder, 'api.ts.saved'), join(folder, 'api.ts'));
    await expectRestarts('api');
    write('later/new.ts', 'export const more = 1;');
    await expectRestarts('api', 'api');
  });

  it('does nothing for what no program runs, nor for a file saved without a change', async () => {
    write('types.ts', 'export type Only = number;');
    write('notes.txt', 'something');
    write('api.ts', `import './shared/both.ts';\nimport type { Only } from './types.ts';`);
    await sleep(SETTLED_MS);
    expect(restarted).to.deep.equal([]);
  });

  it('shows a syntax error and leaves the program running until it is mended', async () => {
    write('shared/both.ts', 'export const value: = 1;');
    await until('the error is shown', async () => failures.length > 0);
    expect(failures).to.have.length(1);
    expect(failures[0]).to.contain('both.ts: Unexpected token');
    expect(restarted).to.deep.equal([]);
    write('shared/both.ts', 'export const value: number = 3;');
    await expectRestarts('api', 'worker');
  });
});

const ignore = (): void => undefined;
const terminal: Terminal = {
  step: (_name, run) => run(),
  ...{ note: ignore, warn: ignore, fail: ignore, block: ignore },
};
