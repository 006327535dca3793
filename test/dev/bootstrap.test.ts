// What stands before every npm script: the right Node, and packages that are installed once.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BOOTSTRAP = join(import.meta.dirname, '../../dev/bootstrap.mjs');
const INSTALLS = `
  const fs = require('node:fs');
  fs.appendFileSync('installs', 'x');
  setTimeout(() => {
    fs.mkdirSync('node_modules/.bin', { recursive: true });
    fs.symlinkSync(process.execPath, 'node_modules/.bin/node');
    fs.writeFileSync('node_modules/.package-lock.json', '{}');
  }, 200);`;
const FAILS = `console.error('npm error code E404'); process.exit(1);`;

describe('the bootstrap', () => {
  let project = '';
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'bootstrap-'));
    mkdirSync(join(project, 'dev'));
    copyFileSync(BOOTSTRAP, join(project, 'dev/bootstrap.mjs'));
    writeFileSync(join(project, 'package-lock.json'), '{}');
    writeFileSync(join(project, 'dev/hello.ts'), `console.log('hello', process.argv[2]); process.exit(7);`);
  });
  afterEach(() => rmSync(project, { recursive: true }));

  it('says in one sentence that Node is too old', async () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.2.0' } })`;
    const { code, output } = await run(project, INSTALLS, ['--import', `data:text/javascript,${old}`]);
    expect(code).to.equal(1);
    expect(output).to.match(/^Node 20 or newer is needed to begin, this is 18\.2\.0: .*\n$/);
  });

  it('installs once for two runs at the same time, then runs the script with its arguments', async () => {
    const runs = await Promise.all([run(project, INSTALLS), run(project, INSTALLS)]);
    for (const { code, output } of runs) {
      expect(output).to.contain('hello world');
      expect(code).to.equal(7);
    }
    expect(readFileSync(join(project, 'installs'), 'utf8')).to.equal('x');
  });

  it('installs nothing through a link to the packages of another checkout', async () => {
    mkdirSync(join(project, 'elsewhere/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(project, 'elsewhere/.bin/node'));
    symlinkSync(join(project, 'elsewhere'), join(project, 'node_modules'));
    expect((await run(project, INSTALLS)).output).to.equal('hello world\n');
    expect(existsSync(join(project, 'installs'))).to.equal(false);
  });

  it('shows what npm said when the installation fails', async () => {
    const { code, output } = await run(project, FAILS);
    expect(code).to.equal(1);
    expect(output).to.contain('The dependencies could not be installed');
    expect(output).to.contain('npm error code E404');
    expect(output).not.to.contain('    at ');
  });
});

async function run(
  project: string,
  npm: string,
  nodeArgs: string[] = [],
): Promise<{ code: number | null; output: string }> {
  const npmFile = join(project, 'npm.cjs');
  writeFileSync(npmFile, npm);
  const child = spawn(process.execPath, [...nodeArgs, 'dev/bootstrap.mjs', 'dev/hello.ts', 'world'], {
    cwd: project,
    env: { ...process.env, npm_execpath: npmFile },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}
