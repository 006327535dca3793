// Lookups that requests share: never one that began before the request came.
import { expect } from 'chai';
import { CoalescedLookups } from '../../api/coalesced-lookups.ts';

describe('coalesced lookups', () => {
  it('answer what arrived during a lookup from the next one, which they share', async () => {
    const lookups = new CoalescedLookups<number>();
    const open: PromiseWithResolvers<number>[] = [];
    const find = (name: string) =>
      lookups.find(name, () => {
        const lookup = Promise.withResolvers<number>();
        open.push(lookup);
        return lookup.promise;
      });
    const first = find('key');
    const others = [find('key'), find('key'), find('key')];
    const another = find('another key');
    expect(open.length).to.equal(2);
    open[0]?.resolve(1);
    open[1]?.resolve(10);
    expect([await first, await another]).to.deep.equal([1, 10]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(open.length).to.equal(3);
    const late = find('key');
    open[2]?.resolve(2);
    expect(await Promise.all(others)).to.deep.equal([2, 2, 2]);
    await new Promise((resolve) => setImmediate(resolve));
    open[3]?.resolve(3);
    expect(await late).to.equal(3);
  });

  it('go on after a lookup that failed', async () => {
    const lookups = new CoalescedLookups<number>();
    const failing = lookups.find('key', () => Promise.reject(new Error('the database is away')));
    const next = lookups.find('key', async () => 2);
    expect(await failing.catch((error: Error) => error.message)).to.equal('the database is away');
    expect(await next).to.equal(2);
  });
});
