// Parts that die are started again, until it is clear that they will not live.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Exit } from '../../../dev/processes.ts';
import { supervise, type Part, type SupervisorOptions } from '../../../dev/system/supervisor.ts';

const TIMING = { firstDelayMs: 1, delayMsMax: 4, soundAfterMs: 10_000 };

describe('a supervised part', () => {
  it('is started again when it dies, and says so', async () => {
    const { parts, warnings, options } = script();
    const restarted = Promise.withResolvers<void>();
    const supervised = await supervise({ ...options, onRestart: restarted.resolve });
    parts[0]?.die({ code: null, signal: 'SIGKILL' });
    await restarted.promise;
    expect(supervised.pid()).to.equal(2);
    expect(warnings).to.deep.equal(['worker ended (SIGKILL); restarting it']);
    await supervised.stop();
  });

  it('is given up, with its last words, after five deaths right after the start', async () => {
    const { parts, options } = script((part) => part.die({ code: 1, signal: null }));
    const gaveUp = Promise.withResolvers<Error>();
    await supervise({ ...options, onGiveUp: gaveUp.resolve });
    const error = await gaveUp.promise;
    expect(error.message).to.match(/worker ended 5 times .*\nlast words of 5$/s);
    expect(parts).to.have.length(5);
  });

  it('is never given up for being killed from outside', async () => {
    const { parts, options } = script((part) => part.pid < 9 && part.die({ code: null, signal: 'SIGKILL' }));
    const ninth = Promise.withResolvers<void>();
    let restarts = 0;
    const onRestart = (): void => {
      restarts += 1;
      if (restarts === 8) ninth.resolve();
    };
    const supervised = await supervise({ ...options, onRestart });
    await ninth.promise;
    expect(parts).to.have.length(9);
    await supervised.stop();
  });

  it('is ended and started anew when asked, without a warning', async () => {
    const { parts, warnings, options } = script();
    const supervised = await supervise(options);
    await supervised.restart();
    await supervised.restart();
    expect(supervised.pid()).to.equal(3);
    expect(parts).to.have.length(3);
    expect(warnings).to.deep.equal([]);
    await supervised.stop();
  });

  it('waits to be asked after a start that failed, where its sources are being changed', async () => {
    const { parts, warnings, options } = script(
      (part) => part.pid === 2 && part.die({ code: 1, signal: null }),
    );
    const supervised = await supervise({ ...options, waitsForRestart: true });
    await supervised.restart();
    await sleep(20);
    expect(parts).to.have.length(2);
    expect(supervised.pid()).to.equal(null);
    expect(warnings).to.deep.equal([
      'worker ended (exit code 1) and waits for the next change. Its last lines:\nlast words of 2',
    ]);
    await supervised.restart();
    expect(supervised.pid()).to.equal(3);
    await supervised.stop();
  });

  it('reports that it could not be started, and can be asked again', async () => {
    const { options } = script();
    let isBroken = false;
    const start = () => (isBroken ? Promise.reject(new Error('no port')) : options.start());
    const supervised = await supervise({ ...options, start, waitsForRestart: true });
    isBroken = true;
    expect(await supervised.restart().catch(String)).to.equal('Error: no port');
    isBroken = false;
    await supervised.restart();
    expect(supervised.pid()).to.equal(2);
    await supervised.stop();
  });

  it('stays down once it is stopped', async () => {
    const { parts, warnings, options } = script();
    const supervised = await supervise(options);
    await supervised.stop();
    expect(parts).to.have.length(1);
    expect(warnings).to.deep.equal([]);
  });
});

interface ScriptedPart extends Part {
  die(exit: Exit): void;
}

/** Parts with the pids 1, 2, 3 …; `act` decides what becomes of each as soon as it runs. */
function script(act: (part: ScriptedPart) => unknown = () => undefined): {
  parts: ScriptedPart[];
  warnings: string[];
  options: SupervisorOptions<ScriptedPart>;
} {
  const parts: ScriptedPart[] = [];
  const warnings: string[] = [];
  const start = (): Promise<ScriptedPart> => {
    const ended = Promise.withResolvers<Exit>();
    const pid = parts.length + 1;
    const part: ScriptedPart = {
      pid,
      exited: ended.promise,
      lastLines: () => [`last words of ${pid}`],
      die: ended.resolve,
      stop: () => {
        ended.resolve({ code: 0, signal: null });
        return Promise.resolve();
      },
    };
    parts.push(part);
    act(part);
    return Promise.resolve(part);
  };
  const options: SupervisorOptions<ScriptedPart> = {
    name: 'worker',
    start,
    warn: (message) => warnings.push(message),
    onGiveUp: (error) => {
      throw error;
    },
    timing: TIMING,
  };
  return { parts, warnings, options };
}
