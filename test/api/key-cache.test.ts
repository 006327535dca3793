// What chat remembers of API keys: for how long, what makes it longer, and what makes it look again.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ApiKeyCache } from '../../api/key-cache.ts';
import { forkEm } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { Secrets } from '../../db/secrets.ts';
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
  /** A reservation for the key, granted or refused, between two moments. */
  const reserve = async (from: number, to: number, isGranted = true): Promise<void> => {
    const { key } = await find();
    seconds = from;
    const prove = cache.beginProof(key);
    seconds = to;
    if (isGranted) prove();
  };

  it('holds a revoked one for five seconds', async () => {
    await find();
    await revoke();
    expect(await isFoundAt(4.9)).to.equal(true);
    expect(await isFoundAt(5)).to.equal(false);
  });

  it('holds it for five seconds from the beginning of the last reservation that was granted', async () => {
    await reserve(3, 4);
    await revoke();
    expect(await isFoundAt(7.9)).to.equal(true);
    expect(await isFoundAt(8)).to.equal(false);
  });

  it('takes a refused reservation for no proof', async () => {
    await reserve(3, 4, false);
    await revoke();
    expect(await isFoundAt(5)).to.equal(false);
  });

  it('looks every key up again after a minute', async () => {
    for (let at = 0; at < 60; at += 4) await reserve(at, at);
    await revoke();
    expect(await isFoundAt(59.9)).to.equal(true);
    expect(await isFoundAt(60)).to.equal(false);
  });

  it('looks up at once what it was told to forget, and is not made to hold it by a late proof', async () => {
    const { key } = await find();
    const prove = cache.beginProof(key);
    await revoke();
    cache.forget(key);
    prove();
    expect(await isFoundAt(0)).to.equal(false);
  });

  it('of a fresh lookup nothing is held', async () => {
    const found = await cache.findFresh(text);
    if (found) cache.beginProof(found.key)();
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

  it('is a proof of the key: a user’s steady calls look it up once', async () => {
    const user = await gateway.createUser();
    const find = () => gateway.services.keyCache.find(user.apiKey);
    expect((await ask(user)).status).to.equal(200);
    const first = await find();
    for (seconds = 4; seconds <= 20; seconds += 4) expect((await ask(user)).status).to.equal(200);
    seconds = 24;
    expect(await find()).to.equal(first);
    seconds = 26;
    expect(await find()).not.to.equal(first);
  });

  it('has the models that its owner adds from the call after the first refused one', async () => {
    const user = await createLimitedUser(gateway, { modelScope: ['gpt-6-sol'] });
    expectError(await ask(user), 403, 'model_not_allowed');
    await change(user, { modelScope: ['gpt-6-sol', 'gpt-6-luna'] });
    expect((await ask(user)).status).to.equal(200);
  });
});
