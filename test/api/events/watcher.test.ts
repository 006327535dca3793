// The watcher: how often it looks, and what it does when a look fails.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createWatcher, type Follower } from '../../../api/events/watcher.ts';
import type { ChangePosition, ChangeQuery, Changes } from '../../../db/changes.ts';
import { until } from '../../support/until.ts';

const EVERY_MS = 100;

describe('the watcher of changes', () => {
  let reads: { at: number; position: ChangePosition | null; query: ChangeQuery }[];
  let failing: boolean;
  /** Reads that are full pages. */
  let fullPages: number;
  /** What a read waits for before it sees the database, once it was asked. */
  let held: Promise<void> | null;
  const watcher = (everyMs = EVERY_MS) =>
    createWatcher({
      everyMs,
      log: { warn: () => undefined },
      read: async (position, query): Promise<Changes> => {
        reads.push({ at: performance.now(), position, query });
        await held;
        if (failing) throw new Error('the database is away');
        return {
          tasks: [],
          ended: [],
          balances: new Map(),
          liveSessionIds: new Set(query.sessionIds),
          position: {
            snapshot: `${reads.length}:${reads.length}:`,
            page: reads.length > fullPages ? null : { until: '9:9:', afterXid: '1', afterId: 'task_x' },
          },
        };
      },
    });
  const follower = (name: string): Follower => ({
    userId: `usr_${name}`,
    sessionId: `ses_${name}`,
    onRead: () => undefined,
    onSessionEnd: () => undefined,
  });

  beforeEach(() => {
    reads = [];
    failing = false;
    fullPages = 0;
    held = null;
  });

  it('sends no statement without a listener, and none after the last one has left', async () => {
    const watching = watcher();
    expect(reads).to.deep.equal([]);
    const leave = await watching.follow(follower('a'));
    leave();
    await until('a look would be due', async () => performance.now() - (reads[0]?.at ?? 0) > 3 * EVERY_MS);
    expect(reads.length).to.be.at.most(2);
  });

  it('reads the rest of a full page soon, and not after the usual time', async () => {
    fullPages = 3;
    const watching = watcher(60_000);
    await watching.follow(follower('a'));
    await until('the rest is read', async () => reads.length === 4);
    watching.stop();
  });

  it('looks for all listeners at once, and no more often than it may', async () => {
    const watching = watcher();
    await Promise.all(['a', 'b', 'c'].map((name) => watching.follow(follower(name))));
    const waiting = new AbortController();
    void watching.awaitEnd('task_x', waiting.signal);
    await until('it has looked five times', async () => reads.length >= 5);
    watching.stop();
    waiting.abort();
    const gaps = reads.slice(1).map(({ at }, index) => at - (reads[index]?.at ?? 0));
    expect(Math.min(...gaps)).to.be.above(EVERY_MS * 0.9);
    expect(reads.at(-1)?.query).to.deep.equal({
      userIds: ['usr_a', 'usr_b', 'usr_c'],
      sessionIds: ['ses_a', 'ses_b', 'ses_c'],
      awaitedTaskIds: ['task_x'],
    });
  });

  it('goes on from the same position after a look that failed', async () => {
    const watching = watcher();
    await watching.follow(follower('a'));
    failing = true;
    const count = reads.length;
    await until('two looks have failed', async () => reads.length >= count + 2);
    failing = false;
    await until('a look has worked', async () => reads.length >= count + 4);
    watching.stop();
    const after = reads.slice(count).map(({ position }) => position?.snapshot);
    expect(new Set(after.slice(0, 3)).size).to.equal(1);
  });

  it('has a listener that comes during a look wait for its end, since the look tells it nothing', async () => {
    const watching = watcher();
    await watching.follow(follower('a'));
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    const count = reads.length;
    await until('a look is under way', async () => reads.length > count);
    const events: string[] = [];
    const following = watching.follow(follower('b')).then(() => events.push('follows'));
    await setImmediate(); // whatever does not wait for the look has happened by then
    failing = true;
    events.push('the look ends');
    gate.resolve();
    await following;
    expect(events).to.deep.equal(['the look ends', 'follows']);
    watching.stop();
  });

  it('refuses a listener while the database is away', async () => {
    const watching = watcher();
    failing = true;
    const refused = await watching.follow(follower('a')).then(
      () => 'followed',
      (error: unknown) => String(error),
    );
    expect(refused).to.include('away');
    expect(watching.counts().followers).to.equal(0);
  });
});
