// GET /api/balance: the same as for a key, for the user of the session.
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

describe('GET /api/balance', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(12.000001);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  for (const query of ['', '?includeLedger=1', '?includeLedger=1&limit=1'])
    it(`answers what the key answers for "${query}"`, async () => {
      const { status, body } = await owner.session.get(`/api/balance${query}`);
      expect(status).to.equal(200);
      expect(body.data).to.include({ balance: 12.000001, reserved: 0, available: 12.000001 });
      expect(body).to.deep.equal((await owner.key.get(`/v1/balance${query}`)).body);
    });

  it('refuses an unknown value of includeLedger: 400', async () => {
    expectError(
      await owner.session.get('/api/balance?includeLedger=yes'),
      400,
      'invalid_value',
      'includeLedger',
    );
  });

  it('takes no key', async () => {
    expectError(await owner.key.get('/api/balance'), 401, 'not_authenticated');
  });
});
