// The first attempts that a process has under way: no user has all places, and an endpoint that goes on
// failing rests.
import { expect } from 'chai';
import type { Attempted } from '../../activities/webhook-attempts.ts';
import { FirstAttempts } from '../../worker/webhook-first-attempts.ts';

const MAX = 100;

describe('the first attempts under way', () => {
  const hanging = (): Promise<Attempted> => new Promise(() => undefined);

  it('are never taken to the last by users who have some', () => {
    const underWay = new FirstAttempts(MAX);
    const users = ['a', 'b', 'c', 'd'];
    const takeMost = (userId: string): number => {
      let taken = 0;
      while (!underWay.findLeftOut().userIds.includes(userId)) {
        const claimed = underWay.claimMax; // all of a claim may be of one user
        for (let count = 0; count < claimed; count += 1)
          void underWay.add({ id: userId, userId, failingSince: null }, hanging());
        taken += claimed;
      }
      return taken;
    };
    expect(users.map(takeMost)).to.deep.equal([50, 25, 13, 6]);
    expect(underWay.findLeftOut().userIds).to.deep.equal(users);
    expect(underWay.claimMax, 'for the next user').to.equal(3);
  });

  for (const [what, failingSince, kind, rests] of [
    ['failed and had failed before', new Date(), 'retry', true],
    ['failed for the first time', null, 'retry', false],
    ['took it after failures', new Date(), 'delivered', false],
  ] as const)
    it(`${rests ? 'let' : 'do not let'} an endpoint rest that ${what}`, async () => {
      const underWay = new FirstAttempts(MAX);
      const outcome: Attempted =
        kind === 'retry' ? { kind, failure: 'unreachable', retryMs: 5_000 } : { kind };
      await underWay.add({ id: 'whk', userId: 'usr', failingSince }, Promise.resolve(outcome));
      expect(underWay.findLeftOut()).to.deep.equal({ userIds: [], endpointIds: rests ? ['whk'] : [] });
    });

  it('are waited for at the end', async () => {
    const underWay = new FirstAttempts(MAX);
    const attempt = Promise.withResolvers<Attempted>();
    let ended = false;
    void underWay.add({ id: 'whk', userId: 'usr', failingSince: null }, attempt.promise);
    const all = underWay.ended().then(() => {
      ended = true;
    });
    await Promise.resolve();
    expect(ended).to.equal(false);
    attempt.resolve({ kind: 'delivered' });
    await all;
  });
});
