// The faults of a soak: drawn from its seed, apart from each other, and loud when a part does not come back.
import { expect } from 'chai';
import { injectFaults, kill, type Injected } from '../../../bench/soak/faults.ts';
import { createChance } from '../../../bench/soak/random.ts';
import type { Fault, SoakSystem } from '../../../bench/soak/system.ts';
import { Secrets } from '../../../db/secrets.ts';

const STRIKES = 6;

describe('the faults of a soak', () => {
  it('are the same for the same seed, and counted by name', async () => {
    const faults = ['api', 'worker', 'redis', 'bucket'].map((part) => kill(part, 1));
    const [one, same, other] = [await inject(1, faults), await inject(1, faults), await inject(2, faults)];
    expect(one.struck).to.deep.equal(same.struck).and.not.to.deep.equal(other.struck);
    expect([...one.faults.values()].reduce((sum, count) => sum + count, 0)).to.equal(STRIKES);
  });

  it('last until every part is back', async () => {
    const { disturbances, struckAt, healthyAt } = await inject(1, [kill('api', 1)]);
    disturbances.forEach(({ from, until }, index) => {
      expect(from).to.be.at.most(struckAt[index] ?? 0);
      expect(until).to.be.at.least(healthyAt[index] ?? Infinity);
    });
    expect(disturbances).to.have.length(STRIKES);
  });

  it('are a problem when a part does not come back', async () => {
    const { problems } = await inject(1, [kill('api', 1)], () => Promise.reject(new Error('api is silent')));
    expect(new Set(problems)).to.deep.equal(new Set(['kill api: api is silent']));
  });

  it('spare a process whose memory is judged from their share of the time on', async () => {
    const { struck } = await inject(1, [kill('worker', 1_000, -1), kill('redis', 1)]);
    expect(new Set(struck)).to.deep.equal(new Set(['kill redis']));
  });

  it('end with their time, also where the traffic ends later', async () => {
    const { struck, problems } = await inject(1, [kill('api', 1)], () => Promise.resolve(), 0);
    expect([...struck, ...problems]).to.deep.equal([]);
  });
});

interface Played extends Injected {
  struck: string[];
  struckAt: number[];
  healthyAt: number[];
}

/** Injects some faults into a system that only notes them. */
async function inject(
  seed: number,
  faults: readonly Fault[],
  recover: () => Promise<void> = () => Promise.resolve(),
  seconds = 60,
): Promise<Played> {
  const ending = new AbortController();
  const [struck, struckAt, healthyAt]: [string[], number[], number[]] = [[], [], []];
  const system: SoakSystem = {
    ...{ databaseUrl: '', secrets: new Secrets([{ id: 'k', bytes: Buffer.alloc(32) }]) },
    ...{ baseUrls: [], internalUrls: {}, faults: { none: [], gentle: [], all: faults } },
    strike: (fault) => {
      struck.push(fault.name);
      struckAt.push(Date.now());
      if (struck.length === STRIKES) ending.abort();
      return Promise.resolve(true);
    },
    untilHealthy: async () => {
      await recover();
      healthyAt.push(Date.now());
    },
    stop: () => Promise.resolve(),
  };
  const plan = { kind: 'all', seconds, signal: ending.signal } as const;
  const injected = await injectFaults(system, createChance(seed), { ...plan, pauseSeconds: [0, 0] });
  return { ...injected, struck, struckAt, healthyAt };
}
