// `npm test`: what fails beside other tests and passes alone is a warning with `--again`; `--jobs 1`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { launch } from '../../dev/processes.ts';

describe('the test command', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'test-command-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a test file with one test, of these statements. */
  function writeTest(name: string, body: string): void {
    const imports = `import { existsSync, writeFileSync } from 'node:fs';\nimport { join } from 'node:path';\n`;
    const source = `${imports}describe('${name}', () => { it('works', () => { ${body} }); });\n`;
    writeFileSync(join(folder, `${name}.test.mjs`), source);
  }

  const failOnce = `
    const mark = join(import.meta.dirname, 'ran');
    if (existsSync(mark)) return;
    writeFileSync(mark, '');
    throw new Error('the machine was busy');`;

  async function runTests(...options: string[]): Promise<{ code: number | null; output: string }> {
    const test = await launch({
      command: process.execPath,
      args: ['dev/test.ts', join(folder, '*.test.mjs'), ...options],
      env: process.env,
      logFile: join(folder, 'log'),
    });
    const { code } = await test.exited;
    return { code, output: test.lastLines().join('\n') };
  }

  it('fails when a test fails', async () => {
    writeTest('sound', '');
    writeTest('shaky', failOnce);
    expect((await runTests()).code).to.equal(1);
  });

  it('with --jobs 1 runs also files that await while they are loaded', async () => {
    writeTest('sound', '');
    writeFileSync(
      join(folder, 'waiting.test.mjs'),
      `await null; describe('waiting', () => { it('works'); });`,
    );
    for (const options of [['--jobs', '1'], ['--jobs=1'], ['-j', '1']]) {
      const { code, output } = await runTests(...options);
      expect(code, output).to.equal(0);
    }
  });

  it('with --again passes when the failed file passes alone, and names the test', async () => {
    writeTest('sound', '');
    writeTest('shaky', failOnce);
    const { code, output } = await runTests('--again');
    expect(code, output).to.equal(0);
    expect(output).to.include('passed only when run again: shaky › works');
  });

  it('with --again fails when it fails once more', async () => {
    writeTest('sound', '');
    writeTest('broken', `throw new Error('always');`);
    const { code, output } = await runTests('--again');
    expect(code).to.equal(1);
    expect(output).to.not.include('passed only');
  });

  it('with --again fails at once when many files fail', async () => {
    for (const name of ['one', 'two', 'three', 'four']) writeTest(name, failOnce.replace('ran', name));
    const { code, output } = await runTests('--again');
    expect(code).to.be.above(0);
    expect(output).to.not.include('again');
  });
});
