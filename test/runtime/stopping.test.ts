// How a process ends: in order when it is told to, and never later than its limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';

const KEY = `sk-svc_${'aB3'.repeat(16)}x`;
const ROOT = new URL('../../', import.meta.url);

/** Runs a process with these lines; answers its exit code and output. */
async function run(lines: string): Promise<{ code: number; output: string }> {
  const script = `
    import { createLog } from './log.ts';
    import { stopOnSignals } from './runtime/stopping.ts';
    const log = createLog({ process: 'test', level: 'info' });
    const alive = setInterval(() => undefined, 1000);
    ${lines}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

describe('a process that stops', () => {
  it('ends with 0 when it was told to, after everything else has ended', async () => {
    const { code, output } = await run(`
      const stop = async (drains) => { console.log('stopped, drains: ' + drains); };
      stopOnSignals({ log, stop, limitMs: 5000 });
      process.kill(process.pid, 'SIGTERM');`);
    expect([code, output.trim()]).to.deep.equal([0, 'stopped, drains: true']);
  });

  for (const [what, line] of [
    ['an error that nobody caught', `setTimeout(() => { throw new Error('key ${KEY}'); });`],
    ['a promise that nobody waits for', `void Promise.reject(new Error('key ${KEY}'));`],
    ['a rejection without a reason', `void Promise.reject();`],
  ])
    it(`ends with 1 after ${what}, in order and without waiting, and logs it masked`, async () => {
      const { code, output } = await run(`
        const stop = async (drains) => { console.log('stopped, drains: ' + drains); };
        stopOnSignals({ log, stop, limitMs: 5000 });
        ${line}`);
      expect(code).to.equal(1);
      expect(output).to.contain('stopped, drains: false').and.contain('an error that nobody caught');
      expect(output).not.to.contain(KEY);
    });

  it('ends with 1 when stopping takes longer than it may, when it fails, and when it is told twice', async () => {
    for (const lines of [
      `stopOnSignals({ log, stop: () => new Promise(() => {}), limitMs: 50 }); process.kill(process.pid, 'SIGTERM');`,
      `stopOnSignals({ log, stop: () => Promise.reject(new Error('no')), limitMs: 5000 }); process.kill(process.pid, 'SIGTERM');`,
      `stopOnSignals({ log, stop: () => new Promise(() => {}), limitMs: 60000 });
       process.kill(process.pid, 'SIGTERM'); setTimeout(() => process.kill(process.pid, 'SIGINT'), 50);`,
    ])
      expect((await run(lines)).code, lines).to.equal(1);
  });
});
