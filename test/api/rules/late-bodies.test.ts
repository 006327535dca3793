// A request does what its sender may do when its body has come, not when its head came, minutes before.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, setPermissions, setVerified } from '../../support/administrators.ts';
import { openBrowser, type Browser } from '../../support/http/browser.ts';
import { converse } from '../../support/http/raw.ts';
import { KEYS, listKeys } from '../../support/keys.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const NEW_KEY = { name: 'Night jobs' };
const HOOK = { url: 'https://hooks.example.com/in', events: ['task.completed'] };

describe('a request whose body comes later than its head', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  beforeEach(async () => {
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  /** Sends the head, and the body when the sender was found to be in order and `change` has happened. */
  async function post(
    path: string,
    body: object,
    { identity, change }: { identity: string; change: () => Promise<unknown> },
  ): Promise<{ status: number; code: string | null }> {
    const text = JSON.stringify(body);
    const head = [
      `POST ${path} HTTP/1.1`,
      ...['host: localhost', 'connection: close', 'expect: 100-continue', 'content-type: application/json'],
      ...[`content-length: ${text.length}`, identity],
    ];
    const { answers } = await converse(gateway.baseUrl, [
      `${head.join('\r\n')}\r\n\r\n`,
      { after: 'HTTP/1.1 100 Continue', when: change, text },
    ]);
    const last = answers.at(-1);
    return { status: last?.status ?? 0, code: JSON.parse(last?.body ?? '{}').error?.code ?? null };
  }

  const cookieOf = (browser: Browser): string => `cookie: svc_session=${browser.token()}`;

  it('makes no key with a session that its user has ended in between: 401', async () => {
    const [stolen, own] = [await openBrowser(gateway, owner), await openBrowser(gateway, owner)];
    await setVerified(gateway, owner, true);
    const change = () => own.delete('/api/auth/sessions');
    const answer = await post(KEYS, NEW_KEY, { identity: cookieOf(stolen), change });
    expect(answer).to.deep.equal({ status: 401, code: 'not_authenticated' });
    await setVerified(gateway, owner, true);
    expect((await own.get(KEYS)).body.data).to.have.length(1);
  });

  it('makes no key when the verification is over by then: 403', async () => {
    const browser = await openBrowser(gateway, owner);
    await setVerified(gateway, owner, true);
    const change = () => setVerified(gateway, owner, false);
    const answer = await post(KEYS, NEW_KEY, { identity: cookieOf(browser), change });
    expect(answer).to.deep.equal({ status: 403, code: 'verification_required' });
    expect((await listKeys(owner)).data).to.have.length(1);
  });

  it('grants nothing for an administrator who may no longer, or who is disabled: 403', async () => {
    const chief = await createAdministrator(gateway);
    const browser = await openBrowser(gateway, chief);
    await setVerified(gateway, chief, true);
    const grants = `/api/admin/users/${owner.id}/grants`;
    const body = { credits: 5, note: 'Thanks' };
    const identity = cookieOf(browser);
    const demote = () => setPermissions(gateway, chief, ['users.read']);
    expect(await post(grants, body, { identity, change: demote })).to.deep.equal({
      ...{ status: 403, code: 'permission_denied' },
    });
    await setPermissions(gateway, chief, ['credits.grant']);
    const disable = () =>
      gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${chief.id}`);
    expect(await post(grants, body, { identity, change: disable })).to.deep.equal({
      ...{ status: 403, code: 'account_disabled' },
    });
    expect((await owner.session.get('/api/balance')).body.data.balance).to.equal(0);
  });

  it('makes no webhook with an API key that was revoked in between: 401', async () => {
    const identity = `authorization: Bearer ${owner.apiKey}`;
    const change = () => owner.session.delete(`${KEYS}/${owner.keyId}`);
    const answer = await post('/v1/webhooks', HOOK, { identity, change });
    expect(answer).to.deep.equal({ status: 401, code: 'invalid_api_key' });
    expect((await owner.session.get('/api/webhooks')).body.data).to.deep.equal([]);
  });

  it('creates and answers nothing with a key that was revoked in between: 401', async () => {
    const identity = `authorization: Bearer ${owner.apiKey}`;
    const messages = [{ role: 'user', content: 'hello' }];
    await owner.key.post('/v1/chat/completions', { model: 'gpt-6-luna', messages }); // remembers the key
    const change = () => owner.session.delete(`${KEYS}/${owner.keyId}`);
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'gpt-6-luna', messages }],
      ['/v1/images/generations', { model: 'gpt-image-2', prompt: 'a cat' }],
    ] as const) {
      await gateway.em().execute(sql`update api_key set revoked_at = null where id = ${owner.keyId}`);
      const answer = await post(path, body, { identity, change });
      expect(answer, path).to.deep.equal({ status: 401, code: 'invalid_api_key' });
    }
    expect((await owner.session.get('/api/tasks')).body.data).to.deep.equal([]);
  });

  it('does as asked when nothing has changed', async () => {
    const browser = await openBrowser(gateway, owner);
    await setVerified(gateway, owner, true);
    const change = () => Promise.resolve();
    const answer = await post(KEYS, NEW_KEY, { identity: cookieOf(browser), change });
    expect(answer).to.deep.equal({ status: 201, code: null });
    const identity = `authorization: Bearer ${owner.apiKey}`;
    expect(await post('/v1/webhooks', HOOK, { identity, change })).to.deep.equal({ status: 201, code: null });
  });
});
