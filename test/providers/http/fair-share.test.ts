// Places that several holders share: what one may take, who is served next, and who leaves without one.
import { expect } from 'chai';
import { FairShare, type Release } from '../../../providers/http/fair-share.ts';

const never = new AbortController().signal;

/** Takes places for a holder until it has to wait. */
function takeMany(share: FairShare, holder: string): Release[] {
  const taken: Release[] = [];
  for (let release = share.tryTake(holder); release; release = share.tryTake(holder)) taken.push(release);
  return taken;
}

describe('a fair share', () => {
  it('gives one holder half of all places, and leaves every newcomer some', () => {
    const share = new FairShare(512);
    const sizes = ['one', 'two', 'three', 'four'].map((holder) => takeMany(share, holder).length);
    expect(sizes).to.deep.equal([256, 128, 64, 32]);
    expect(share.tryTake('five')).not.to.equal(null);
  });

  it('gives a place back once, however often it is released', () => {
    const share = new FairShare(8);
    const [first] = takeMany(share, 'one');
    first?.();
    first?.();
    expect(share.load).to.deep.equal({ taken: 3, waiting: 0 });
  });

  it('serves those who wait by what they hold, then by their arrival', async () => {
    const share = new FairShare(8);
    const big = takeMany(share, 'big');
    const small = takeMany(share, 'small');
    const served: string[] = [];
    const wait = (holder: string): Promise<void> =>
      share.take(holder, never).then(() => void served.push(holder));
    const all = [wait('big'), wait('small'), wait('small')];
    expect(share.load).to.deep.equal({ taken: 6, waiting: 3 });
    big[0]?.();
    big[1]?.();
    await all[1];
    expect(served[0]).to.equal('small');
    for (const release of [...big, ...small]) release();
    await Promise.all(all);
    expect(served).to.have.members(['big', 'small', 'small']);
  });

  it('forgets a holder who gives up waiting', async () => {
    const share = new FairShare(2);
    const [release] = takeMany(share, 'one');
    const leaving = new AbortController();
    const waiting = share.take('one', leaving.signal).catch((error: unknown) => error);
    leaving.abort(new Error('gone'));
    expect(await waiting).to.include({ message: 'gone' });
    release?.();
    expect(share.load).to.deep.equal({ taken: 0, waiting: 0 });
  });
});
