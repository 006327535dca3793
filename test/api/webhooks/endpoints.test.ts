// Webhooks as their owner makes, reads, changes and deletes them, with the cookie and with a key.
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import { makeId } from '../../../db/ids.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';
import { makeWebhook } from '../../support/webhooks.ts';

const HOOK = { url: 'https://hooks.example.com/svc?token=abc', events: ['task.completed', 'task.failed'] };

describe('webhooks', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });

  it('show their secret when they are made, and never again', async () => {
    const { secret, ...made } = await makeWebhook(owner.session, { ...HOOK, description: 'Renders' });
    const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    expect(bytes).to.have.length(32);
    expect(made).to.deep.include({ ...HOOK, description: 'Renders', disabledAt: null, balanceBelow: null });
    const read = (await owner.session.get(`/api/webhooks/${made.id}`)).body.data;
    expect(read).to.deep.equal(made);
    const stored = [...(await readWholeDatabase(gateway)).values()].join('\n');
    expect(stored).to.include(made.id).and.not.include(secret.slice(6, 20));
    expect(stored).not.to.include(bytes.toString('hex').slice(0, 20));
  });

  it('are the same under /v1, where unknown fields are ignored', async () => {
    const made = await owner.key.post('/v1/webhooks', { ...HOOK, extra: 1 });
    expect(made.status).to.equal(201);
    const listed = (await owner.session.get('/api/webhooks')).body;
    expect(listed.data.map(({ id }: { id: string }) => id)).to.deep.equal([made.body.data.id]);
    const changed = await owner.key.patch(`/v1/webhooks/${made.body.data.id}`, { disabled: true });
    expect(changed.body.data).to.include({ disabledReason: 'owner' });
    expect((await owner.key.delete(`/v1/webhooks/${made.body.data.id}`)).status).to.equal(204);
    expectError(await owner.key.get(`/v1/webhooks/${made.body.data.id}`), 404, 'not_found');
    expectError(
      await owner.session.post('/api/webhooks', { ...HOOK, extra: 1 }),
      400,
      'invalid_request',
      'extra',
    );
  });

  it('get no more than ten, also when they are made at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => owner.session.post('/api/webhooks', HOOK)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(10);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectError(answer, 409, 'webhook_limit_reached');
  });

  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.8/',
    'https://metadata.internal/',
    'https://user:secret@example.com/',
    'https://example.com:8443/',
    'ftp://example.com/',
    'not a url',
    'http://user@127.0.0.1:8080/',
  ])
    it(`cannot be at ${url}`, async () => {
      expectError(await owner.session.post('/api/webhooks', { ...HOOK, url }), 400, 'url_not_allowed', 'url');
    });

  it('need an amount for balance.low, and take none without it', async () => {
    const low = { ...HOOK, events: ['balance.low'] };
    expectError(await owner.session.post('/api/webhooks', low), 400, 'missing_field', 'balanceBelow');
    const stray = { ...HOOK, balanceBelow: 5 };
    expectError(await owner.session.post('/api/webhooks', stray), 400, 'conflicting_params', 'balanceBelow');
    const { id } = await makeWebhook(owner.session, { ...low, balanceBelow: 2.5 });
    const changed = await owner.session.patch(`/api/webhooks/${id}`, { events: ['task.failed'] });
    expectError(changed, 400, 'conflicting_params', 'balanceBelow');
    const both = await owner.session.patch(`/api/webhooks/${id}`, {
      ...{ events: ['task.failed'], balanceBelow: null },
    });
    expect(both.body.data).to.deep.include({ events: ['task.failed'], balanceBelow: null });
  });

  it('keep amount and event together when two requests change one of them each', async () => {
    const fields = { ...HOOK, events: ['task.failed', 'balance.low'], balanceBelow: 2.5 };
    const { id } = await makeWebhook(owner.session, fields);
    const { changing } = await gateway.em().transactional(async (tx) => {
      await tx.execute(`select 1 from webhook_endpoint where id = '${id}' for update`);
      const waiting = (count: number) =>
        until(`${count} wait for the row`, async () => {
          const [row] = await gateway
            .em()
            .execute<{ count: string }[]>(
              `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
            );
          return Number(row?.count) === count;
        });
      const without = { events: ['task.failed'], balanceBelow: null };
      const changing = [owner.session.patch(`/api/webhooks/${id}`, without)];
      await waiting(1);
      changing.push(owner.session.patch(`/api/webhooks/${id}`, { balanceBelow: 3 }));
      await waiting(2);
      return { changing };
    });
    expect((await Promise.all(changing)).map(({ status }) => status)).to.deep.equal([200, 400]);
    const { events, balanceBelow } = (await owner.session.get(`/api/webhooks/${id}`)).body.data;
    expect(events.includes('balance.low')).to.equal(balanceBelow !== null);
  });

  it('forget their secret when it is rotated, after a day', async () => {
    const made = await makeWebhook(owner.session, HOOK);
    const { body } = await owner.session.post(`/api/webhooks/${made.id}/rotate-secret`);
    expect(body.data.secret)
      .to.match(/^whsec_/)
      .and.not.equal(made.secret);
    const inHours = (Date.parse(body.data.previousSecretUntil) - Date.now()) / 3_600_000;
    expect(inHours).to.be.within(23.9, 24);
  });

  it('refuse a test and a repetition while they are disabled', async () => {
    const { id } = await makeWebhook(owner.session, HOOK);
    await owner.session.patch(`/api/webhooks/${id}`, { disabled: true });
    expectError(await owner.session.post(`/api/webhooks/${id}/test`), 409, 'webhook_disabled');
    const path = `/api/webhooks/${id}/deliveries/${makeId('dlv')}/resend`;
    expectError(await owner.session.post(path), 409, 'webhook_disabled');
    const enabled = await owner.session.patch(`/api/webhooks/${id}`, { disabled: false });
    expect(enabled.body.data).to.include({ disabledAt: null, disabledReason: null });
    expectError(await owner.session.post(path), 404, 'not_found');
  });

  it('leave an audit entry for each change, without secrets of the address', async () => {
    const { id } = await makeWebhook(owner.session, HOOK);
    await owner.session.patch(`/api/webhooks/${id}`, { description: 'Another' });
    await owner.session.post(`/api/webhooks/${id}/rotate-secret`);
    await owner.session.delete(`/api/webhooks/${id}`);
    const { data } = (await owner.session.get('/api/security-events')).body;
    const ours = data.filter(({ target }: { target: { id: string } }) => target.id === id);
    expect(ours.map(({ action }: { action: string }) => action)).to.deep.equal([
      ...['DELETE_WEBHOOK', 'ROTATE_WEBHOOK_SECRET', 'UPDATE_WEBHOOK', 'CREATE_WEBHOOK'],
    ]);
    expect(JSON.stringify(ours)).not.to.include('token=abc').and.not.to.include('whsec_');
  });

  for (const { method, path } of ROUTES.filter(({ path }) => /^\/(api|v1)\/webhooks\/:id/.test(path)))
    it(`${method} ${path} answers a stranger’s id and a random one alike: 404`, async () => {
      const { id } = await makeWebhook(owner.session, HOOK);
      await owner.session.post(`/api/webhooks/${id}/test`);
      const [delivery] = (await owner.session.get(`/api/webhooks/${id}/deliveries`)).body.data;
      const stranger = await gateway.createUser();
      const actor = path.startsWith('/api/') ? stranger.session : stranger.key;
      const body = method === 'PATCH' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
      for (const webhookId of [id, makeId('whk'), 'whk_nonsense']) {
        const concrete = path.replace(':id', webhookId).replace(':deliveryId', delivery.id);
        expectError(await actor.send(method, concrete, body), 404, 'not_found');
      }
    });
});
