// Processes of ours: their last words, their end, and those that an earlier start left behind.
import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../../dev/lock.ts';
import { isAlive, launch, stopLeftover, type RunningProcess } from '../../dev/processes.ts';

const deaf = `process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)`;

describe('a process we start', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'processes-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const run = (code: string): Promise<RunningProcess> =>
    launch({
      command: process.execPath,
      args: ['-e', code],
      logFile: join(folder, 'log'),
      pidFile: join(folder, 'pid'),
    });

  it('leaves its last lines and its exit code', async () => {
    const child = await run(`console.log('one'); console.error('two'); process.exit(3)`);
    expect(await child.exited).to.deep.equal({ code: 3, signal: null });
    expect(child.lastLines()).to.have.members(['one', 'two']);
    expect(existsSync(join(folder, 'pid'))).to.equal(false);
  });

  it('is ended by force when it does not listen', async () => {
    const child = await run(deaf);
    while (!child.lastLines().includes('ready')) await sleep(10);
    await child.stop(50);
    expect((await child.exited).signal).to.equal('SIGKILL');
    expect(isAlive(child.pid)).to.equal(false);
  });

  it('gets less of the processors with all that it starts, where it is asked for', async () => {
    const child = await launch({
      command: process.execPath,
      args: ['-e', `process.stdin.once('data', () => console.log(String(child_process.execSync('nice'))))`],
      logFile: join(folder, 'log'),
      inputFile: process.execPath, // ends its wait at once
      priority: 'background',
    });
    await child.exited;
    expect(child.lastLines()).to.include('5');
  });

  it('is found and ended at the next start, when nobody stopped it', async () => {
    const child = await run(deaf);
    while (!child.lastLines().includes('ready')) await sleep(10); // between its two programs it has no command line
    const pidFile = join(folder, 'pid');
    expect(await stopLeftover(pidFile, (line) => line.includes('some other program'))).to.equal(false);
    expect(await stopLeftover(pidFile, (line) => line.includes('setInterval'), 'SIGTERM', 50)).to.equal(true);
    expect((await child.exited).code).to.equal(null);
  });
});

describe('a lock', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lock-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('names the living process that holds it', () => {
    const file = join(folder, 'lock');
    writeFileSync(file, `${process.ppid}\n`);
    expect(takeLock(file)).to.equal(process.ppid);
  });

  it('passes on when its holder is gone, or is another program', () => {
    const file = join(folder, 'lock');
    writeFileSync(file, '999999999\n');
    const lock = takeLock(file);
    expect(readFileSync(file, 'utf8')).to.equal(`${process.pid}\n`);
    if (typeof lock !== 'number') lock.release();
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, `${process.ppid}\n`);
    expect(takeLock(file, () => false)).not.to.be.a('number');
  });
});
