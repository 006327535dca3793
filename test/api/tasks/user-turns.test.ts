// Turns of users at the database: a few at once for each user, in order, and none waits for another user.
import { expect } from 'chai';
import { createUserTurns } from '../../../api/tasks/user-turns.ts';

describe('turns of users', () => {
  it('let two pieces of work of one user run at once, the others in their order', async () => {
    const turns = createUserTurns(2);
    const started: number[] = [];
    const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const all = ends.map((end, index) =>
      turns.take('one', async () => {
        started.push(index);
        await end.promise;
        return index;
      }),
    );
    await turns.take('another', async () => undefined);
    expect(started).to.deep.equal([0, 1]);
    ends[1]?.resolve();
    expect(await all[1]).to.equal(1);
    for (const end of ends) end.resolve();
    expect(await Promise.all(all)).to.deep.equal([0, 1, 2, 3]);
    expect(started).to.deep.equal([0, 1, 2, 3]);
  });

  it('go on after work that failed', async () => {
    const turns = createUserTurns(1);
    const failed = turns.take('one', () => Promise.reject(new Error('no credits')));
    const next = turns.take('one', async () => 'done');
    expect(await failed.catch((error: Error) => error.message)).to.equal('no credits');
    expect(await next).to.equal('done');
  });
});
