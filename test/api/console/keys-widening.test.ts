// PATCH /api/keys/:id: what raises a limit needs a fresh proof of identity, and every change is told.
import { expect } from 'chai';
import { setVerified } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { createKey as create, findKey, KEYS } from '../../support/keys.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

interface Told {
  action: string;
  target: { id: string };
  detail: object;
}

const DAY_MS = 86_400_000;
const TOMORROW = new Date(Date.now() + DAY_MS).toISOString();
const LATER = new Date(Date.now() + 2 * DAY_MS).toISOString();
const SOONER = new Date(Date.now() + DAY_MS / 2).toISOString();
const LIMITS = { quota: 5, dailyBudget: 1, modelScope: ['gpt-image-2'], expiresAt: TOMORROW };

describe('PATCH /api/keys/:id', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  describe('without a fresh proof of identity', () => {
    let user: TestUser;
    let id: string;

    beforeEach(async () => {
      user = await gateway.createUser(0);
      ({ id } = await create(user, LIMITS));
      await setVerified(gateway, user, false);
    });

    for (const wider of [
      ...[{ quota: 5.000001 }, { quota: null }, { dailyBudget: 2 }, { dailyBudget: null }],
      ...[{ modelScope: null }, { modelScope: ['gpt-image-2', 'grok-imagine-video'] }],
      ...[{ expiresAt: LATER }, { expiresAt: null }, { name: 'Renamed', quota: 1, dailyBudget: 2 }],
    ])
      it(`refuses ${JSON.stringify(wider).replaceAll(LATER, 'later')}, and changes nothing`, async () => {
        const before = await findKey(user, id);
        const answer = await user.session.patch(`${KEYS}/${id}`, wider);
        expectError(answer, 403, 'verification_required', null);
        expect(await findKey(user, id)).to.deep.equal(before);
      });

    it('names, lowers and revokes', async () => {
      for (const narrower of [
        ...[{ name: 'Renamed' }, { quota: 5 }, { quota: 4 }, { dailyBudget: 0 }, { expiresAt: SOONER }, {}],
        { modelScope: ['gpt-image-2'] },
      ])
        expect((await user.session.patch(`${KEYS}/${id}`, narrower)).status).to.equal(200);
      const { data } = (await user.session.patch(`${KEYS}/${user.keyId}`, LIMITS)).body;
      expect(data, 'a key that had no limits').to.include({ quota: 5, dailyBudget: 1 });
      expect((await user.session.delete(`${KEYS}/${id}`)).status).to.equal(200);
    });
  });

  it('is told to the owner, as are making and revoking: once each, with the limits that changed', async () => {
    const user = await gateway.createUser(0);
    const { id } = await create(user, { name: 'Night jobs', quota: 5 });
    await user.session.patch(`${KEYS}/${id}`, { name: 'Day jobs' });
    await user.session.patch(`${KEYS}/${id}`, { quota: 5, dailyBudget: 2.5 });
    for (const _again of [1, 2]) await user.session.delete(`${KEYS}/${id}`);
    const { data } = (await user.session.get('/api/security-events')).body;
    const told = data.map(({ action, target, detail }: Told) => [action, target.id, detail]);
    expect(told).to.deep.equal([
      ['REVOKE_API_KEY', id, { name: 'Day jobs' }],
      ['UPDATE_API_KEY', id, { name: 'Day jobs', dailyBudget: 2.5 }],
      ['CREATE_API_KEY', id, { name: 'Night jobs', quota: 5 }],
    ]);
  });
});
