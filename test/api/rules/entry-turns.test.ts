// Requests are authenticated a few at once for each user, and a user weighs as one, whatever the keys.
import { request } from 'node:http';
import { expect } from 'chai';
import { createOverloadGuard, overloadLimits } from '../../../api/http/overload.ts';
import { Subjects } from '../../../api/http/subjects.ts';
import { ENTRY_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { createKey } from '../../support/keys.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';
import { upload } from '../../support/uploads.ts';

const KEYS = 10;

describe('requests with many keys of one user', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let neighbour: TestUser;
  let keys: string[];

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    neighbour = await gateway.createUser();
    keys = [owner.apiKey];
    while (keys.length < KEYS) keys.push((await createKey(owner)).key);
    for (const key of [...keys, neighbour.apiKey]) expect((await read(key)).status).to.equal(200);
  });
  after(() => gateway.stop());

  const read = (key: string) =>
    fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } });

  it('hold four connections while their keys are looked up, and a neighbour’s key is found beside them', async () => {
    const { entryTurns } = gateway.services;
    const found: Promise<Response>[] = [];
    await gateway.database.em.fork().transactional(async (em) => {
      await em.execute('lock table api_key in access exclusive mode');
      found.push(...keys.map(read));
      await until(
        'the others wait',
        async () => entryTurns.countWaiting() === KEYS - ENTRY_TURN_LIMITS.turnsPerUserMax,
      );
      found.push(read(neighbour.apiKey));
      const used = (): number => {
        const { open, idle } = readPoolMetrics(gateway.database);
        return open - idle;
      };
      // One of this transaction, and one of the neighbour's look-up.
      await until('the neighbour’s key is asked for', async () => used() === 4 + 2);
    });
    for (const { status } of await Promise.all(found)) expect(status).to.equal(200);
    expect(entryTurns.countWaiting()).to.equal(0);
  });

  it('leave no listener of their turns behind, of which Node would warn', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', note);
    const { body } = await upload(owner.key);
    const { pathname, search } = new URL(body.data.url);
    expect((await fetch(`${gateway.baseUrl}${pathname}${search}`)).status).to.equal(200);
    await new Promise(setImmediate); // a warning comes a tick later
    process.off('warning', note);
    expect(warnings).to.deep.equal([]);
  });

  it('hold no turn once they are authenticated: a user reads on beside as many bodies that never come', async () => {
    const headers = { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' };
    const held = Array.from({ length: ENTRY_TURN_LIMITS.turnsPerUserMax + 1 }, () =>
      request(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, 'content-length': '100' },
        agent: false,
      }),
    );
    for (const sending of held) sending.on('error', () => undefined).flushHeaders();
    await until('all are under way', async () => {
      const metrics = await gateway.services.metrics.registry.metrics();
      return metrics.includes(`svc_http_requests_in_flight ${held.length}`);
    });
    expect((await read(owner.apiKey)).status).to.equal(200);
    for (const sending of held) sending.destroy();
  });
});

describe('the subject of a request', () => {
  const withKey = (key: string, ip = '192.0.2.1') => ({ headers: { authorization: `Bearer ${key}` }, ip });

  it('is the user of a key that was right before, and the address block of all others', () => {
    const subjects = new Subjects();
    expect(subjects.of(withKey('a'))).to.equal(subjects.of(withKey('b')));
    subjects.learn(withKey('a'), 'one');
    subjects.learn(withKey('b'), 'one');
    subjects.learn({ headers: { cookie: 'svc_session=c' } }, 'another');
    expect(subjects.of(withKey('a', '192.0.2.9'))).to.equal('one');
    expect(subjects.of(withKey('b'))).to.equal('one');
    expect(subjects.of({ headers: { cookie: 'svc_session=c' } })).to.equal('another');
    expect(subjects.of(withKey('wrong'))).to.equal(subjects.of({ headers: {}, ip: '192.0.2.1' }));
    expect(subjects.of(withKey('wrong'))).to.not.equal(subjects.of(withKey('wrong', '198.51.100.1')));
  });

  it('keeps a user with many keys from weighing as many callers while the event loop is late', async () => {
    const signs = { databaseWaiters: () => 0, memoryShare: () => 0, takeDelayMs: () => 1_000 };
    const guard = createOverloadGuard(overloadLimits({ inFlightMax: 4_000, delayMs: 200 }), signs);
    const subjects = new Subjects();
    const enter = (key: string) => guard.enter(subjects.of(withKey(key)));
    subjects.learn(withKey('neighbour'), 'a neighbour');
    for (let key = 0; key < KEYS; key += 1) subjects.learn(withKey(`key ${key}`), 'one');
    for (let request = 0; request < 200; request += 1) enter(`key ${request % KEYS}`);
    await until('the burst is refused', async () => enter('key 0') === 'event_loop');
    expect(enter('neighbour')).to.be.an('object');
    guard.stop();
  });
});
