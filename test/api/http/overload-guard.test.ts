// The guard that decides whether another request is taken, and the budget of bodies.
import { expect } from 'chai';
import { createBodyBudget } from '../../../api/http/body-budget.ts';
import {
  createOverloadGuard,
  overloadLimits,
  type LoadSigns,
  type OverloadGuard,
  type Seat,
  type Shortage,
} from '../../../api/http/overload.ts';
import { until } from '../../support/until.ts';

const CALM: LoadSigns = { databaseWaiters: () => 0, memoryShare: () => 0.1, takeDelayMs: () => 1 };
const LIMITS = overloadLimits({ inFlightMax: 2, delayMs: 200 });

function admit(guard: OverloadGuard, subject: string): Seat {
  const seat = guard.enter(subject);
  if (typeof seat === 'string') throw new Error(`refused: ${seat}`);
  return seat;
}

/** What is short for one more request; null when it would be admitted. */
function look(guard: OverloadGuard, subject: string): Shortage | null {
  const seat = guard.enter(subject);
  if (typeof seat === 'string') return seat;
  seat.leave();
  return null;
}

describe('the overload guard', () => {
  it('lets in as many requests as fit, and another one for each that leaves', () => {
    const guard = createOverloadGuard(LIMITS, CALM);
    const seats = [admit(guard, 'one'), admit(guard, 'another')];
    expect(guard.enter('third')).to.equal('in_flight');
    seats[0]?.leave();
    seats[0]?.leave(); // a place is given back once
    admit(guard, 'third');
    expect(guard.enter('one')).to.equal('in_flight');
    guard.stop();
  });

  it('gives no caller more places than are left for the others', () => {
    const guard = createOverloadGuard({ ...LIMITS, inFlightMax: 100 }, CALM);
    for (let each = 0; each < 50; each += 1) admit(guard, 'a burst');
    expect(guard.enter('a burst')).to.equal('in_flight');
    for (let each = 0; each < 25; each += 1) admit(guard, 'another');
    expect(guard.enter('another')).to.equal('in_flight');
    expect(look(guard, 'a neighbour')).to.equal(null);
    guard.stop();
  });

  it('knows a caller by every key, once the keys are known', () => {
    const guard = createOverloadGuard({ ...LIMITS, inFlightMax: 100 }, CALM);
    const belong = (key: number): Shortage | null => admit(guard, `key ${key}`).belongTo('their owner');
    for (let key = 0; key < 50; key += 1) expect(belong(key)).to.equal(null);
    const last = admit(guard, 'key 50');
    expect(last.belongTo('their owner')).to.equal('in_flight');
    expect(look(guard, 'a neighbour')).to.equal(null);
    last.leave();
    expect(look(guard, 'their owner')).to.equal('in_flight');
    guard.stop();
  });

  it('refuses callers with many requests while too many wait for the database', () => {
    let waiters = LIMITS.databaseWaitersMax;
    const limits = { ...LIMITS, inFlightMax: 1_000 };
    const guard = createOverloadGuard(limits, { ...CALM, databaseWaiters: () => waiters });
    for (let each = 0; each < 100; each += 1) admit(guard, `key ${each}`).belongTo('a burst');
    waiters += 1;
    expect(guard.enter('a burst')).to.equal('database');
    expect(look(guard, 'a neighbour')).to.equal(null);
    guard.stop();
  });

  it('does not count a request that only waits', () => {
    const guard = createOverloadGuard(LIMITS, CALM);
    const resume = admit(guard, 'one').rest();
    admit(guard, 'another');
    const last = admit(guard, 'third');
    resume();
    expect(guard.enter('fourth')).to.equal('in_flight');
    last.rest();
    last.leave();
    expect(guard.enter('fourth')).to.equal('in_flight');
    guard.stop();
  });

  it('looks at memory every second, and refuses until there is enough again', async () => {
    let share = 0.81;
    const guard = createOverloadGuard(LIMITS, { ...CALM, memoryShare: () => share });
    admit(guard, 'one').leave();
    await until('it refuses', async () => look(guard, 'one') === 'memory');
    share = 0.1;
    await until('it lets in again', async () => look(guard, 'one') === null);
    guard.stop();
  });

  it('refuses callers with many requests while the event loop is late, and others only with the many', async () => {
    let delayMs = 201;
    const guard = createOverloadGuard(
      { ...LIMITS, inFlightMax: 1_000 },
      { ...CALM, takeDelayMs: () => delayMs },
    );
    for (let each = 0; each < 200; each += 1) admit(guard, 'a burst');
    await until('the burst is refused', async () => look(guard, 'a burst') === 'event_loop');
    expect(look(guard, 'a neighbour')).to.equal(null);
    const neighbours = Array.from({ length: 56 }, (_, each) => admit(guard, `neighbour ${each}`));
    expect(look(guard, 'a neighbour')).to.equal('event_loop');
    neighbours[0]?.leave();
    expect(look(guard, 'a neighbour')).to.equal(null);
    delayMs = 1;
    await until('it lets in again', async () => look(guard, 'a burst') === null);
    guard.stop();
  });

  it('forgives a single late second', async () => {
    const delays = [900, 1, 900, 1];
    let windows = 0;
    const limits = { ...LIMITS, inFlightMax: 1_000 };
    const guard = createOverloadGuard(limits, { ...CALM, takeDelayMs: () => delays[windows++] ?? 1 });
    for (let each = 0; each < 200; each += 1) admit(guard, 'one');
    const verdicts = new Set<unknown>();
    await until('four seconds have passed', async () => {
      verdicts.add(look(guard, 'one'));
      return windows >= 4;
    });
    expect([...verdicts]).to.deep.equal([null]);
    guard.stop();
  });
});

describe('the budget for bodies', () => {
  it('is shared by all callers, none of which may have more than a part, and is given back once', () => {
    const budget = createBodyBudget({ bytesMax: 100, bytesPerCallerMax: 60 });
    const release = budget.reserve('one', 60);
    expect(budget.reserve('one', 1)).to.equal(null);
    expect(budget.reserve('other', 41)).to.equal(null);
    const other = budget.reserve('other', 40);
    expect(other).to.be.a('function');
    release?.();
    release?.();
    expect(budget.reserve('third', 61)).to.equal(null);
    expect(budget.reserve('third', 60)).to.be.a('function');
  });
});
