// The simulated queues of docs/scale.md: held against queueing theory, and against the page.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { simulate } from '../../../bench/scale/queue.ts';
import { TABLES, writeTable } from '../../../bench/scale/scenarios.ts';
import { createChance } from '../../../bench/soak/random.ts';

const PAGE = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8');

describe('a simulated queue', () => {
  it('waits as theory says: for one server that is used by 80 %, p95 is ln(16) / 0.2 service times', () => {
    const [seen] = run([{ name: 'one', servers: 1, serviceMs: 8 }], 100);
    expect(seen?.busy).to.be.closeTo(0.8, 0.01);
    expect((seen?.waitP95Ms ?? 0) / 8).to.be.closeTo(Math.log(16) / 0.2, 1);
  });

  it('waits less for many servers that are used as much', () => {
    const [seen] = run([{ name: 'many', servers: 100, serviceMs: 800 }], 100);
    expect(seen?.busy).to.be.closeTo(0.8, 0.01);
    expect(seen?.waitP95Ms).to.be.lessThan(8);
  });

  it('grows without end where more comes than is served, and spares the stations behind', () => {
    const [first, second] = run(
      [
        { name: 'narrow', servers: 1, serviceMs: 20 },
        { name: 'behind', servers: 1, serviceMs: 10 },
      ],
      100,
    );
    expect(first?.busy).to.be.closeTo(1, 0.01);
    expect((first?.waiting ?? 0) / 200_000).to.be.closeTo(0.5, 0.02);
    expect(second?.waitP95Ms).to.be.lessThan(100);
  });

  for (const [name, simulateTable] of Object.entries(TABLES))
    it(`shows on docs/scale.md what the command prints of ${name}`, () => {
      expect(PAGE).to.include(writeTable(simulateTable()));
    });

  function run(stations: Parameters<typeof simulate>[0], perSecond: number): ReturnType<typeof simulate> {
    return simulate(stations, { perSecond, items: 200_000 }, createChance(7));
  }
});
