// The page's section about a soak: kept until the next one, and plain about what was violated.
import { expect } from 'chai';
import { readPlan } from '../../../bench/soak/plan.ts';
import type { SoakReport } from '../../../bench/soak/soak.ts';
import { describeSoak, type SoakFacts } from '../../../dev/rehearse/soak-section.ts';

const ENDED: SoakReport['ended'] = {
  ...{ settledAfterSeconds: 1, completed: 5, charges: 5, lost: 0, doubled: 0, violations: 0 },
  ...{ longestOpenSeconds: 12.34, problems: [] },
};
const EARLIER = '# A page\n\n## The soak\n\nan hour\n\n## Drills\n\nnone\n';

describe('the section of a soak', () => {
  it('is kept by a rehearsal that plays none', () => {
    expect(describeSoak({ ...factsOf([]), soaked: null }, EARLIER).join('\n')).to.equal(
      '## The soak\n\nan hour\n',
    );
  });

  it('tells what was ordered, lost and disturbed, and how each process fared', () => {
    const text = describeSoak(factsOf([]), EARLIER).join('\n');
    expect(text).to.contain('- 7 tasks ordered: 0 lost, 0 doubled.').and.to.contain('**Passed:');
    expect(text).to.contain('12.3 s').and.to.contain('- 1 faults: 1 × kill api.');
    expect(text).to.contain('| `api` | 200 → 210 | 33 → 34 | not judged | 12 → 13 |');
    expect(text).to.contain('| `api_1` | 170MiB | 180MiB |').and.not.to.contain('an hour');
  });

  it('has every violation, and does not say that it was passed', () => {
    const text = describeSoak(factsOf(['1 task was lost', 'memory grew']), EARLIER).join('\n');
    expect(text).to.contain('**Not passed: 1 task was lost; memory grew**').and.not.to.contain('**Passed');
  });
});

function factsOf(problems: string[]): SoakFacts {
  const byStatus = new Map([[200, 3]]);
  const report: SoakReport = {
    ...{ peakPerSecond: 10, played: new Map(), orders: 7, faults: new Map([['kill api', 1]]), ended: ENDED },
    counts: { requests: 4, disconnected: 0, unanswered: 1, ofProxy: 0, byStatus, broken: new Map() },
    disturbances: [{ from: 0, until: 9_000 }],
    judged: [
      {
        part: 'api',
        memoryMb: [200, 210],
        descriptors: [33, 34],
        queued: null,
        loopDelayMs: [12, 13],
        problems,
      },
    ],
    problems,
  };
  const memory = {
    before: [{ container: 'api_1', used: '170MiB', limit: '1GiB' }],
    after: [{ container: 'api_1', used: '180MiB', limit: '1GiB' }],
  };
  const plan = readPlan({ SOAK_SECONDS: '60', SOAK_SEED: '7' }, () => undefined);
  const run = { startedAt: new Date(0), commit: 'abc', command: 'npm run rehearse -- --soak', loadBefore: 1 };
  return { ...run, soaked: { plan, report, loadAfter: 2, memory } };
}
