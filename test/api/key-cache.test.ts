// What chat remembers of API keys: for how long, and what makes it look again.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ApiKeyCache } from '../../api/key-cache.ts';
import { forkEm } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { Secrets } from '../../db/secrets.ts';
import { createAdministrator } from '../support/administrators.ts';
import { ask } from '../support/chat.ts';
import { expectError } from '../support/http/expect-error.ts';
import { change, createLimitedUser } from '../support/limited-keys.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';

describe('the memory of keys', () => {
  const secrets = new Secrets([{ id: 'a', bytes: randomBytes(32) }]);
  let test: TestDatabase;
  let userId: string;
  let text: string;
  let keyId: string;
  let seconds: number;
  let cache: ApiKeyCache;

  before(async () => {
    test = await createDatabase();
    const user = { email: 'a@example.com', password: 'long enough', permissions: [] };
    userId = (await createUser(em(), user)) ?? '';
  });
  after(() => test.drop());
  beforeEach(async () => {
    ({ key: text, id: keyId } = await createApiKey(em(), secrets, { userId, name: 'Key' }));
    seconds = 0;
    cache = new ApiKeyCache(test.database, secrets, () => seconds * 1000);
  });
  const em = () => forkEm(test.database);
  const revoke = () => em().execute(sql`update api_key set revoked_at = now() where id = ${keyId}`);
  const find = async () => {
    const found = await cache.find(text);
    if (!found) throw new Error('the key was not found');
    return found;
  };
  const isFoundAt = async (at: number): Promise<boolean> => {
    seconds = at;
    return (await cache.find(text)) !== null;
  };

  it('holds a revoked one for a minute from its lookup, however often it is used', async () => {
    for (let at = 0; at < 60; at += 4) expect(await isFoundAt(at)).to.equal(true);
    await revoke();
    expect(await isFoundAt(59.9)).to.equal(true);
    expect(await isFoundAt(60)).to.equal(false);
  });

  it('looks up at once what it was told to forget', async () => {
    const { key } = await find();
    await revoke();
    cache.forget(key);
    expect(await isFoundAt(0)).to.equal(false);
  });

  it('of a fresh lookup nothing is held', async () => {
    await cache.findFresh(text);
    await revoke();
    expect(await isFoundAt(0)).to.equal(false);
  });
});

describe('chat with a remembered key', () => {
  let gateway: TestGateway;
  let seconds = 0;

  before(async () => {
    gateway = await startGateway({ worker: false });
    const { services } = gateway;
    services.keyCache = new ApiKeyCache(services.database, services.secrets, () => seconds * 1000);
  });
  after(() => gateway.stop());

  it('looks the key of a user who calls now and then up once in a minute', async () => {
    const user = await gateway.createUser();
    const find = () => gateway.services.keyCache.find(user.apiKey);
    expect((await ask(user)).status).to.equal(200);
    const first = await find();
    seconds += 59;
    expect((await ask(user)).status).to.equal(200);
    expect(await find()).to.equal(first);
    seconds += 1;
    expect(await find()).not.to.equal(first);
  });

  it('refuses a revoked key by its reservation, and looks it up from then on', async () => {
    const user = await gateway.createUser();
    expect((await ask(user)).status).to.equal(200);
    await user.session.delete(`/api/keys/${user.keyId}`);
    expectError(await ask(user), 401, 'invalid_api_key');
    expect(await gateway.services.keyCache.find(user.apiKey)).to.equal(null);
  });

  it('lets a user who is enabled again chat at once', async () => {
    const user = await gateway.createUser();
    expect((await ask(user)).status).to.equal(200);
    const chief = await createAdministrator(gateway);
    const setDisabled = (disabled: boolean) =>
      chief.session.patch(`/api/admin/users/${user.id}`, { disabled });
    await setDisabled(true);
    for (let call = 0; call < 2; call += 1) expectError(await ask(user), 403, 'account_disabled');
    await setDisabled(false);
    expect((await ask(user)).status).to.equal(200);
  });

  it('has the models that its owner adds from the call after the first refused one', async () => {
    const user = await createLimitedUser(gateway, { modelScope: ['gpt-6-sol'] });
    expectError(await ask(user), 403, 'model_not_allowed');
    await change(user, { modelScope: ['gpt-6-sol', 'gpt-6-luna'] });
    expect((await ask(user)).status).to.equal(200);
  });
});
