// Three quarters of a minute of mixed load on the whole product, with gentle faults from a fixed seed. `npm
// run soak` is the long form.
import { expect } from 'chai';
import { startLocalSystem } from '../bench/soak/local-system.ts';
import { soak } from '../bench/soak/soak.ts';

const SECONDS = 45;
/** For starting the system, its end, and a machine that is busy with other tests. */
const MARGIN_SECONDS = 255;

describe('a short soak', function () {
  this.timeout((SECONDS + MARGIN_SECONDS) * 1_000);

  it('answers as documented, settles everything, charges what it completed', async () => {
    const lines: string[] = [];
    const { problems, ended, faults, counts } = await soak(
      {
        ...{ seed: 20, seconds: SECONDS, load: 0.4, peakSeconds: 5, settleSeconds: 120 },
        ...{ faults: 'gentle', faultPauseSeconds: [4, 9] },
        // In so short a time, and beside other tests, only what is far beyond the usual tells anything.
        thresholds: {
          ...{ warmUpSeconds: 15, memoryGrowth: 0.5, memoryGrowthMb: 100 },
          ...{ descriptorsGrowth: 100, queueGrowth: 200, loopDelayMs: 2_000, mustJudge: false },
        },
        say: (line) => lines.push(line),
      },
      await startLocalSystem(),
    );
    expect(problems, lines.join('\n')).to.deep.equal([]);
    expect(ended.completed).to.be.greaterThan(0);
    expect(faults.size).to.be.greaterThan(0);
    expect(counts.byStatus.get(200)).to.be.greaterThan(0);
  });
});
