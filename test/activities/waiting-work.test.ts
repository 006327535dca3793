// How often work asks again that found no place at its vendor.
import { expect } from 'chai';
import { createSubmission } from '../../activities/submission.ts';
import { WaitingWork } from '../../activities/waiting-work.ts';
import { createTask } from '../../db/tasks/new-tasks.ts';
import { newTask } from '../support/rows.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { startTestSystem } from '../support/servers/test-system.ts';

const NOW = 1_000_000;

describe('work that found no place at its vendor', () => {
  let work: WaitingWork;

  beforeEach(() => {
    work = new WaitingWork();
  });

  const ask = (id: string, userId: string, nowMs = NOW, family = 'grok') =>
    work.wait(family, { id, userId }, nowMs);
  const refuse = (count: number, userId = 'anna', nowMs = NOW) =>
    Array.from({ length: count }, (_, index) => ask(`task-${index}-of-${userId}`, userId, nowMs));

  /** Plays tasks that ask again and again. Answers how often each user asked in the last of two minutes. */
  function play(counts: Readonly<Record<string, number>>): Record<string, number> {
    const dueAt = new Map<string, { userId: string; at: number }>();
    for (const [userId, count] of Object.entries(counts))
      for (let index = 0; index < count; index += 1) dueAt.set(`${userId}-${index}`, { userId, at: 0 });
    const asked: Record<string, number> = {};
    for (let at = 0; at < 120_000; at += 100)
      for (const [id, due] of dueAt) {
        if (due.at > at) continue;
        due.at = at + ask(id, due.userId, at);
        if (at >= 60_000) asked[due.userId] = (asked[due.userId] ?? 0) + 1;
      }
    return asked;
  }

  it('asks again after two seconds while little of it waits, also when it is refused again', () => {
    expect(new Set(refuse(40))).to.deep.equal(new Set([2_000]));
    expect(new Set(refuse(40))).to.deep.equal(new Set([2_000]));
  });

  it('of one user, asks about twenty times a second in all, but each task within half a minute', () => {
    expect(refuse(200).at(-1)).to.equal(10_000);
    expect(refuse(2_000).at(-1)).to.equal(30_000);
    expect(ask('another', 'anna', NOW, 'kling'), 'another family').to.equal(2_000);
  });

  it('of a user with one task, asks every two seconds beside 600 tasks of another', () => {
    const { anna, ben } = play({ anna: 600, ben: 1 });
    expect(ben).to.equal(30);
    expect(anna, 'each within half a minute').to.be.within(1_200, 1_300);
  });

  it('of several users, asks in equal parts of twenty times a second', () => {
    const { anna, ben, carl } = play({ anna: 150, ben: 150, carl: 100 });
    expect([anna, ben, carl].map((count = 0) => Math.round(count / 100))).to.deep.equal([4, 4, 4]);
  });

  it('of a hundred users with one task each, asks twenty times a second in all', () => {
    const counts = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`user-${index}`, 1]));
    const asked = Object.values(play(counts)).reduce((sum, count) => sum + count, 0);
    expect(asked).to.be.within(1_100, 1_300);
  });

  it('asks more often when other work has found its place, or did not come back for a minute', () => {
    refuse(200);
    for (let index = 0; index < 150; index += 1) work.end('grok', `task-${index}-of-anna`);
    refuse(60, 'ben');
    expect(ask('next', 'anna')).to.equal(2 * 51 * 50);
    for (let index = 0; index < 60; index += 1) work.end('grok', `task-${index}-of-ben`);
    expect(ask('next', 'anna')).to.equal(51 * 50);
    expect(ask('late', 'anna', NOW + 100_000)).to.equal(2_000);
  });
});

describe('work for which its worker has no place to hand it over', () => {
  const system = startTestSystem();

  it('is tried again every two seconds, however much of it waits', async () => {
    const { gateway, owner } = system;
    const { submit } = createSubmission(dependenciesOf(gateway.config, gateway.services), 0);
    for (let count = 0; count < 60; count += 1) {
      const task = { ...newTask(owner.id, 0n), family: 'grok', adapter: 'grok-video' };
      await createTask(gateway.em(), task, 1_000);
      const refused = await submit({ taskId: task.id, attempt: 1 }).catch((error: unknown) => error);
      expect(refused).to.include({ type: 'upstream_rate_limited', nextRetryDelay: 2_000 });
    }
  });
});
