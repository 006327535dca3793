// The places of later attempts to deliver webhooks: no user takes them all, and those that find none come
// back in their turn.
import { expect } from 'chai';
import { AttemptPlaces, type Place } from '../../activities/webhook-places.ts';

const NOW = 1_000_000;
const MAX = 100;

describe('the places of later attempts', () => {
  let places: AttemptPlaces;
  let taken: Extract<Place, { kind: 'taken' }>[];

  beforeEach(() => {
    places = new AttemptPlaces(MAX);
    taken = [];
  });

  const take = (userId: string, endpoint: number): Place => {
    const place = places.take({ id: `${userId}-${endpoint}`, userId }, NOW);
    if (place.kind === 'taken') taken.push(place);
    return place;
  };
  /** Asks for as many as ten endpoints of a user can; answers how many it got. */
  const takeMost = (userId: string): number => {
    const before = taken.length;
    for (let endpoint = 0; endpoint < 10; endpoint += 1)
      for (let attempts = 0; attempts < 10; attempts += 1) take(userId, endpoint);
    return taken.length - before;
  };

  it('are ten for an endpoint', () => {
    for (let attempts = 0; attempts < 10; attempts += 1) expect(take('a', 1).kind).to.equal('taken');
    expect(take('a', 1).kind).to.equal('none');
    expect(take('a', 2).kind).to.equal('taken');
    taken[0]?.release();
    expect(take('a', 1).kind).to.equal('taken');
  });

  it('are never taken to the last by users who have some', () => {
    expect(takeMost('a')).to.equal(MAX / 2);
    expect(takeMost('b')).to.equal(MAX / 4);
    for (const userId of ['c', 'd', 'e']) expect(takeMost(userId), userId).to.be.at.least(1);
    expect(takeMost('a'), 'more for the first').to.equal(0);
    for (const { release } of taken) release();
    expect(takeMost('f')).to.equal(MAX / 2);
  });

  it('are asked for again one after the other, and no later than in five minutes', () => {
    for (let attempts = 0; attempts < 10; attempts += 1) take('a', 1);
    const pauses = Array.from({ length: 1_000 }, () => {
      const place = take('a', 1);
      return place.kind === 'none' ? place.retryMs : 0;
    });
    expect(pauses.slice(0, 3)).to.deep.equal([500, 1_000, 1_500]);
    expect(Math.max(...pauses)).to.equal(300_000);
  });
});
