// Creations beyond the limit of their user: refused from memory, and never more than refused.
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { verdictOf } from '../../support/http/limits.ts';
import { IMAGE_MODEL } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

const IMAGES = '/v1/images/generations';
const LIMITED = 'rate_limited by memory';
const ORDER = { model: IMAGE_MODEL, prompt: 'x', size: 'none' };

describe('creations beyond the limit', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => (gateway = await startGateway({ worker: false, env: { SVC_LIMIT_CREATE: '2/4' } })));
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
    for (let round = 0; round < 2; round += 1) await owner.key.post(IMAGES, ORDER);
  });

  it('are refused without a look at the key, which is looked at again when the window has ended', async () => {
    expect(verdictOf(await owner.key.post(IMAGES, ORDER))).to.equal(LIMITED);
    expect(verdictOf(await owner.key.post(IMAGES, ORDER))).to.equal(LIMITED);
    await owner.session.delete(`/api/keys/${owner.keyId}`);
    expect(verdictOf(await owner.key.post(IMAGES, ORDER)), 'revoked meanwhile').to.equal(LIMITED);
    const answer = await until('the window has ended', async () => {
      const sent = await owner.key.post(IMAGES, ORDER);
      return sent.status === 429 ? null : sent;
    });
    expectError(answer, 401, 'invalid_api_key');
  });

  it('are of one user: another one’s are not refused, a wrong key is 401', async () => {
    expect(verdictOf(await owner.key.post(IMAGES, ORDER))).to.equal(LIMITED);
    const other = await gateway.createUser();
    expect((await other.key.post(IMAGES, ORDER)).status).to.equal(400);
    const wrong = await gateway.anonymous.post(IMAGES, ORDER, { authorization: 'Bearer sk-svc_wrong' });
    expectError(wrong, 401, 'invalid_api_key');
  });

  it('are authenticated anew when the limit lets one through against all appearances', async () => {
    for (let round = 0; round < 2; round += 1) await owner.key.post(IMAGES, ORDER);
    await owner.session.delete(`/api/keys/${owner.keyId}`);
    const { limits } = gateway.services;
    const within = { verdict: 'within', backend: 'memory', remaining: 1, resetMs: 1_000 } as const;
    gateway.services.limits = { ...limits, consume: async () => ({ ...within, refund: () => undefined }) };
    try {
      expectError(await owner.key.post(IMAGES, ORDER), 401, 'invalid_api_key');
    } finally {
      gateway.services.limits = limits;
    }
  });

  it('end with the window', async () => {
    expect(verdictOf(await owner.key.post(IMAGES, ORDER))).to.equal(LIMITED);
    await until('a creation is looked at', async () => (await owner.key.post(IMAGES, ORDER)).status === 400);
    expect((await owner.key.post(IMAGES, ORDER)).status, 'the second of the new window').to.equal(400);
  });
});
