// Webhook events that are sent because their owner asks: as a test, or once more. Each makes the gateway call
// an address, so they are counted for the user.
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { makeWebhook } from '../../support/webhooks.ts';

const HOOK = { url: 'https://hooks.example.com/svc', events: ['task.completed'] };

describe('webhook events sent on request', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_WEBHOOK: '2/35' } });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });

  it('are counted for the user, over all webhooks, whichever key or session asks', async () => {
    const [one, other] = [await makeWebhook(owner.session, HOOK), await makeWebhook(owner.session, HOOK)];
    const first = await owner.session.post(`/api/webhooks/${one.id}/test`);
    expect(first.status).to.equal(202);
    expect(quotaOf(first)).to.include({ name: 'webhook', limit: 2, remaining: 1, seconds: 35 });
    const { id } = first.body.data;
    const again = await owner.key.post(`/v1/webhooks/${one.id}/deliveries/${id}/resend`);
    expect(again.status).to.equal(202);
    for (const send of [
      () => owner.key.post(`/v1/webhooks/${other.id}/test`),
      () => owner.session.post(`/api/webhooks/${other.id}/test`),
      () => owner.session.post(`/api/webhooks/${one.id}/deliveries/${id}/resend`),
      () => owner.key.post(`/v1/webhooks/${one.id}/deliveries/${id}/resend`),
    ]) {
      const refused = await send();
      expectError(refused, 429, 'rate_limited', null);
      expect(verdictOf(refused)).to.equal('rate_limited by memory');
    }
    const sent = (await owner.session.get(`/api/webhooks/${one.id}/deliveries`)).body.data;
    expect(sent).to.have.length(2);
    expect((await owner.session.get(`/api/webhooks/${other.id}/deliveries`)).body.data).to.deep.equal([]);
  });

  it('leave the limits of others and of everything else as they are', async () => {
    const { id } = await makeWebhook(owner.session, HOOK);
    for (const _ of [1, 2, 3]) await owner.session.post(`/api/webhooks/${id}/test`);
    expect((await owner.session.get(`/api/webhooks/${id}`)).status).to.equal(200);
    const { key } = await gateway.createUser();
    expect((await key.post(`/v1/webhooks/${makeId('whk')}/test`)).status).to.equal(404);
  });
});
