// What is counted in Redis: windows, points given back, keys that name no user, and processes that share it.
import { expect } from 'chai';
import { joinCounts } from '../../../api/limits/joint-counts.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { createActor, type Answer } from '../../support/http/http.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import { startApiProcess } from '../../support/servers/process.ts';
import { until } from '../../support/until.ts';
import {
  ALLOWED,
  BY_REDIS,
  readAll,
  readOnce,
  READS,
  startLimitBackends,
  type LimitBackends,
} from '../../support/servers/limit-backends.ts';

describe('limits that are counted in Redis', () => {
  const cleanup = createCleanup();
  let backends: LimitBackends;

  before(async () => {
    backends = await startLimitBackends(cleanup, { worker: false });
  });
  after(() => cleanup.run());
  it('wiped in mid-window: no error, and the window begins anew', async () => {
    for (const gateway of backends.gateways.values()) {
      await backends.untilBack();
      const user = await gateway.createUser();
      expect(verdictOf(await readOnce(user))).to.equal('200');
      expect(verdictOf(await readOnce(user))).to.equal('200');
      await backends.operator.flushall();
      await backends.operator.call('SCRIPT', 'FLUSH');
      expect(await readAll(user)).to.deep.equal([...ALLOWED, BY_REDIS]);
    }
  });

  it('a refused request does not prolong the window, and its key does not live for ever', async () => {
    await backends.untilBack();
    await backends.operator.flushall();
    const user = await backends.gatewayOf('1').createUser();
    const waits: number[] = [];
    for (let count = 0; count < 20; count += 1) waits.push(quotaOf(await readOnce(user)).wait);
    expect(waits).to.deep.equal(waits.toSorted((one, other) => other - one));
    const [key = ''] = await backends.operator.keys('svc:limit:read:*');
    expect(await backends.operator.get(key)).to.equal(String(READS));
    expect(await backends.operator.ttl(key)).to.be.within(1, 60);
  });

  it('what stands in Redis names nobody', async () => {
    await backends.untilBack();
    await backends.operator.flushall();
    const gateway = backends.gatewayOf('1');
    const user = await gateway.createUser();
    const { id, keyId, apiKey, email } = user;
    await readOnce(user);
    await user.session.get('/api/balance');
    await user.key.post('/v1/images/generations', {});
    await gateway.anonymous.post('/api/auth/login', { email, password: 'wrong' });
    await gateway.anonymous.get('/v1/models', { authorization: 'Bearer sk-svc_wrong' });
    const keys = await backends.operator.keys('*');
    expect(keys.filter((key) => !key.endsWith(':probe'))).to.have.length(7);
    for (const key of keys) {
      expect(key).to.match(/^svc:limit:(probe|[a-z-]+:[\w-]{43})$/);
      for (const secret of [id, keyId, apiKey, email, '127.0.0.1']) expect(key).not.to.contain(secret);
    }
  });

  it('wrong answers are given back in Redis too: right ones cost nothing', async () => {
    await backends.untilBack();
    const gateway = backends.gatewayOf('1');
    const user = await gateway.createUser();
    await backends.operator.flushall();
    const guess = (code: string): Promise<Answer> =>
      user.session.post('/api/verify', { method: 'password', code });
    await guess(user.password);
    const [key = ''] = await backends.operator.keys('svc:limit:verify-wrong:*');
    await until('the point was given back', async () => (await backends.operator.get(key)) === '0');
  });

  it('asked for at once, each of hundreds of keys is counted for itself, and refused beyond its limit', async () => {
    await backends.untilBack();
    const { rlflxIncr: count } = joinCounts(backends.operator);
    const keys = Array.from({ length: 250 }, (_, n) => `test:joint:${n}`);
    const consume = (key: string) => count([key, '1', '60', '2']);
    const asked = [...keys, ...keys, ...keys].map(consume);
    const consumed = (await Promise.all(asked)).map(([points]) => points);
    expect(consumed).to.deep.equal([1, 2, 3].flatMap((points) => keys.map(() => points)));
    expect(await backends.operator.mget(keys)).to.deep.equal(keys.map(() => '2'));
    expect(await count([keys[0] ?? '', '-1', '60', '2'])).to.have.property('0', 1);
    expect(await count(['test:joint:none', '-1', '60', '2'])).to.deep.equal([0, -2]);
  });

  it('a key that cannot be counted fails alone', async () => {
    await backends.untilBack();
    const { rlflxIncr: count } = joinCounts(backends.operator);
    await backends.operator.lpush('test:joint:list', 'no number');
    await backends.operator.expire('test:joint:list', 60); // else it is taken for a window that is over
    const keys = ['test:joint:before', 'test:joint:list', 'test:joint:after'];
    const counted = await Promise.allSettled(keys.map((key) => count([key, '1', '60', '2'])));
    expect(counted.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('two API processes share one limit', async () => {
    await backends.untilBack();
    const gateway = backends.gatewayOf('1');
    const user = await gateway.createUser();
    const identity = () => ({ authorization: `Bearer ${user.apiKey}` });
    const processes = await Promise.all([startApiProcess(gateway.env), startApiProcess(gateway.env)]);
    try {
      const actors = processes.map(({ baseUrl }) => createActor(() => baseUrl, identity));
      const answers = await Promise.all(
        actors.flatMap((actor) => Array.from({ length: READS * 2 }, () => actor.get('/v1/models'))),
      );
      const verdicts = answers.map(verdictOf);
      expect(verdicts.filter((verdict) => verdict === '200')).to.have.length(READS);
      expect(verdicts.filter((verdict) => verdict === BY_REDIS)).to.have.length(READS * 3);
    } finally {
      await Promise.all(processes.map(({ process }) => process.kill()));
    }
  });
});
