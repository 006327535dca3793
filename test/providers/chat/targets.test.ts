// Chat targets: in which order upstreams are asked, and how long an upstream in trouble is passed over.
import { expect } from 'chai';
import { UPSTREAM, type Upstream } from '../../../domain/catalog/upstream.ts';
import { ChatTargets } from '../../../providers/chat/targets.ts';
import { UpstreamFailure } from '../../../providers/provider.ts';

const FAMILIES = {
  one: { baseUrl: 'https://one.example', credentials: [{ id: 'a', key: 'x' }] },
  other: { baseUrl: 'https://other.example', credentials: [{ id: 'b', key: 'y' }] },
};
const at = (family: string, priority: number, weight: number): Upstream => {
  return UPSTREAM.parse({ family, upstreamModel: 'm', priority, weight });
};

describe('the order of upstreams', () => {
  let now = 0;
  const targets = (random: () => number = () => 0.5): ChatTargets =>
    new ChatTargets(FAMILIES, () => now, random);
  const firstOf = (known: ChatTargets, upstreams: Upstream[]): string | undefined =>
    known.rank(upstreams)[0]?.family;

  it('goes by priority, whatever the weights', () => {
    const order = targets(Math.random).rank([at('other', 2, 1_000), at('one', 1, 1)]);
    expect(order.map(({ family }) => family)).to.deep.equal(['one', 'other']);
  });

  it('goes by chance and weight among equals', () => {
    let state = 1;
    const known = targets(() => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    });
    const firsts = Array.from({ length: 2_000 }, () => firstOf(known, [at('one', 1, 3), at('other', 1, 1)]));
    const share = firsts.filter((family) => family === 'one').length / firsts.length;
    expect(share).to.be.within(0.7, 0.8);
  });

  it('leaves out a family without credentials', () => {
    expect(
      targets()
        .rank([at('none', 1, 1), at('one', 2, 1)])
        .map(({ family }) => family),
    ).to.deep.equal(['one']);
  });

  const both = [at('one', 1, 1), at('other', 2, 1)];
  for (const [errorClass, retryAfterMs, restMs] of [
    ['auth', null, 60_000],
    ['quota', null, 60_000],
    ['rate', null, 5_000],
    ['rate', 1_200, 1_200],
    ['rate', 3_600_000, 60_000],
    ['transient', null, 2_000],
  ] as const)
    it(`passes one over for ${restMs} ms after ${errorClass}, told to wait ${retryAfterMs}`, () => {
      const known = targets();
      const [target] = known.rank(both);
      if (!target) throw new Error('there is no target');
      known.recordFailure(target, new UpstreamFailure(errorClass, 'not_received', { retryAfterMs }));
      now += restMs - 1;
      expect(firstOf(known, both)).to.equal('other');
      now += 1;
      expect(firstOf(known, both)).to.equal('one');
    });

  it('blames nobody for a request that is wrong', () => {
    const known = targets();
    const [target] = known.rank(both);
    if (target) known.recordFailure(target, new UpstreamFailure('invalid', 'refused'));
    expect(firstOf(known, both)).to.equal('one');
  });
});
