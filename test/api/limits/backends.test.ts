// Which backend decides about a limit, and how long that takes, whatever happens to Redis.
import { Redis } from 'ioredis';
import { expect } from 'chai';
import { TaskEntity } from '../../../db/entities/tasks.ts';
import { createHealthServer } from '../../../api/monitoring/health.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { createActor, type Answer } from '../../support/http/http.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import { startOwnRedis, type OwnServer } from '../../support/servers/own-servers.ts';
import { startApiProcess } from '../../support/servers/process.ts';
import { expectOneChargeAndSubmission, orderImage, untilSubmitted } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

const READS = 3;
const LIMITS = { SVC_LIMIT_READ: `${READS}/60`, SVC_LIMIT_AUTH: '5/60' };
/** Longest delay by a Redis that does not answer, with a margin for a busy machine. */
const HUNG_LIMIT_MS = 150 + 150;
const RECOVERY_LIMIT_MS = 2_000;
const BY_REDIS = 'rate_limited by redis';
const BY_MEMORY = 'rate_limited by memory';
const BY_NOBODY = 'rate_limiter_unavailable by redis_unavailable';

interface Fault {
  title: string;
  begin: () => Promise<unknown> | void;
  end: () => Promise<unknown> | void;
}

describe('who decides about a limit', function () {
  this.timeout(60_000);
  const cleanup = createCleanup();
  let redis: OwnServer;
  /** An operator's connection to Redis. */
  let operator: Redis;
  const gateways = new Map<'0' | '1', TestGateway>();

  before(async () => {
    redis = await startOwnRedis();
    cleanup.later(() => redis.remove());
    operator = new Redis(redis.address, { retryStrategy: () => 50 });
    operator.on('error', () => undefined);
    cleanup.later(async () => operator.disconnect());
    for (const required of ['0', '1'] as const) {
      const env = { ...LIMITS, REDIS_URL: redis.address, SVC_RATE_LIMIT_REQUIRE_REDIS: required };
      const gateway = await startGateway({ env });
      cleanup.later(() => gateway.stop());
      gateways.set(required, gateway);
    }
  });
  after(() => cleanup.run());

  const gatewayOf = (required: '0' | '1'): TestGateway => {
    const gateway = gateways.get(required);
    if (!gateway) throw new Error('there is no such gateway');
    return gateway;
  };
  const read = ({ key }: TestUser): Promise<Answer> => key.get('/v1/models');
  const readAll = async (user: TestUser): Promise<string[]> => {
    const verdicts: string[] = [];
    for (let count = 0; count <= READS; count += 1) verdicts.push(verdictOf(await read(user)));
    return verdicts;
  };
  const timed = async (call: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await call();
    return performance.now() - startedAt;
  };
  const untilBack = (): Promise<unknown> =>
    until(
      'both gateways count in Redis again',
      async () => [...gateways.values()].every(({ services }) => services.limits.redis() === 'ok'),
      RECOVERY_LIMIT_MS,
    );

  const faults: Fault[] = [
    { title: 'hanging', begin: () => redis.suspend(), end: () => redis.resume() },
    { title: 'killed', begin: () => redis.kill(), end: () => redis.restart() },
    {
      title: 'read-only',
      begin: () => operator.call('REPLICAOF', '127.0.0.1', '1'),
      end: () => operator.call('REPLICAOF', 'NO', 'ONE'),
    },
    {
      title: 'out of memory',
      begin: () => operator.config('SET', 'maxmemory', '1'),
      end: () => operator.config('SET', 'maxmemory', '0'),
    },
    {
      title: 'slow to write',
      begin: () => operator.call('CLIENT', 'PAUSE', '60000', 'WRITE'),
      end: () => operator.call('CLIENT', 'UNPAUSE'),
    },
  ];
  const allowed = Array(READS).fill('200');
  const table: [required: '0' | '1', up: string[], away: string[]][] = [
    ['0', [...allowed, BY_REDIS], [...allowed, BY_MEMORY]],
    ['1', [...allowed, BY_REDIS], Array(READS + 1).fill(BY_NOBODY)],
  ];

  for (const { title, begin, end } of faults) {
    for (const [required, up, away] of table) {
      it(`SVC_RATE_LIMIT_REQUIRE_REDIS=${required}, Redis ${title}: ${away.at(-1)}, and redis again within 2 s`, async () => {
        const gateway = gatewayOf(required);
        await untilBack();
        const user = await gateway.createUser();
        expect(await readAll(user)).to.deep.equal(up);
        const newcomer = await gateway.createUser();
        const refusedBefore = gateway.services.limits.metricsSnapshot().refused;
        await begin();
        try {
          expect(await readAll(newcomer)).to.deep.equal(away);
          await readAll(newcomer); // enough failures for the breaker
          expect(gateway.services.limits.redis()).to.equal('down');
          expect(gateway.services.limits.metricsSnapshot().isBreakerOpen).to.equal(true);
          const { refused } = gateway.services.limits.metricsSnapshot();
          expect(refused.redis).to.equal(refusedBefore.redis);
          expect(refused.memory + refused.redis_unavailable).to.be.above(
            refusedBefore.memory + refusedBefore.redis_unavailable,
          );
        } finally {
          await end();
        }
        await untilBack();
        expect(await readAll(await gateway.createUser())).to.deep.equal(up);
        await gateway.expectSoundMoney();
      });
    }
  }

  it('without Redis it is memory', async () => {
    const gateway = await startGateway({ worker: false, env: LIMITS });
    try {
      expect(await readAll(await gateway.createUser())).to.deep.equal([...allowed, BY_MEMORY]);
      expect(gateway.services.limits.redis()).to.equal('none');
    } finally {
      await gateway.stop();
    }
  });

  it('a gateway that starts while Redis is away refuses at first, and counts when it is there', async () => {
    for (const [begin, end] of [
      [redis.kill, redis.restart],
      [redis.suspend, redis.resume],
    ] as const) {
      await begin();
      const env = { ...LIMITS, REDIS_URL: redis.address, SVC_RATE_LIMIT_REQUIRE_REDIS: '1' };
      const gateway = await startGateway({ worker: false, env }).finally(end);
      try {
        const user = await gateway.createUser();
        const isBack = async (): Promise<boolean> => gateway.services.limits.redis() === 'ok';
        await until('it counts in Redis', isBack, RECOVERY_LIMIT_MS);
        expect(await readAll(user)).to.deep.equal([...allowed, BY_REDIS]);
      } finally {
        await gateway.stop();
      }
    }
  });

  it('a Redis that hangs costs a few requests 150 ms at most, and then none', async () => {
    for (const [required, gateway] of gateways) {
      await untilBack();
      const user = await gateway.createUser();
      const logIn = () => gateway.anonymous.post('/api/auth/login', { email: user.email, password: 'wrong' });
      const usual = required === '0' ? await timed(logIn) : 0;
      redis.suspend();
      try {
        // A login counts three times, and still waits only once.
        expect((await timed(logIn)) - usual).to.be.below(HUNG_LIMIT_MS);
        for (let count = 0; count < 4; count += 1)
          expect(await timed(() => read(user))).to.be.below(HUNG_LIMIT_MS);
        const after: number[] = [];
        for (let count = 0; count < 40; count += 1) after.push(await timed(() => read(user)));
        after.sort((one, other) => one - other);
        expect(after[20], `median of ${after.join(', ')}`).to.be.below(40);
      } finally {
        redis.resume();
      }
    }
  });

  it('wiped in mid-window: no error, and the window begins anew', async () => {
    for (const gateway of gateways.values()) {
      await untilBack();
      const user = await gateway.createUser();
      expect(verdictOf(await read(user))).to.equal('200');
      expect(verdictOf(await read(user))).to.equal('200');
      await operator.flushall();
      await operator.call('SCRIPT', 'FLUSH');
      expect(await readAll(user)).to.deep.equal([...allowed, BY_REDIS]);
    }
  });

  it('a refused request does not prolong the window, and its key does not live for ever', async () => {
    await untilBack();
    await operator.flushall();
    const user = await gatewayOf('1').createUser();
    const waits: number[] = [];
    for (let count = 0; count < 20; count += 1) waits.push(quotaOf(await read(user)).wait);
    expect(waits).to.deep.equal(waits.toSorted((one, other) => other - one));
    const [key = ''] = await operator.keys('svc:limit:read:*');
    expect(await operator.get(key)).to.equal(String(READS));
    expect(await operator.ttl(key)).to.be.within(1, 60);
  });

  it('what stands in Redis names nobody', async () => {
    await untilBack();
    await operator.flushall();
    const gateway = gatewayOf('1');
    const user = await gateway.createUser();
    const { id, keyId, apiKey, email } = user;
    await read(user);
    await user.session.get('/api/balance');
    await user.key.post('/v1/images/generations', {});
    await gateway.anonymous.post('/api/auth/login', { email, password: 'wrong' });
    await gateway.anonymous.get('/v1/models', { authorization: 'Bearer sk-svc_wrong' });
    const keys = await operator.keys('*');
    expect(keys.filter((key) => !key.endsWith(':probe'))).to.have.length(7);
    for (const key of keys) {
      expect(key).to.match(/^svc:limit:(probe|[a-z-]+:[\w-]{43})$/);
      for (const secret of [id, keyId, apiKey, email, '127.0.0.1']) expect(key).not.to.contain(secret);
    }
  });

  it('wrong answers are given back in Redis too: right ones cost nothing', async () => {
    await untilBack();
    const gateway = gatewayOf('1');
    const user = await gateway.createUser();
    await operator.flushall();
    const guess = (code: string): Promise<Answer> =>
      user.session.post('/api/verify', { method: 'password', code });
    await guess(user.password);
    const [key = ''] = await operator.keys('svc:limit:verify-wrong:*');
    await until('the point was given back', async () => (await operator.get(key)) === '0');
  });

  it('two API processes share one limit', async () => {
    await untilBack();
    const gateway = gatewayOf('1');
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

  describe('while Redis is required and dead', () => {
    let user: TestUser;
    let gateway: TestGateway;
    beforeEach(async () => {
      await untilBack();
      gateway = gatewayOf('1');
      user = await gateway.createUser();
    });

    it('everything that is limited is refused, what needs no limiter is not, and it all leaves no trace', async () => {
      await redis.kill();
      try {
        const body = { model: 'gpt-image-2', prompt: 'x' };
        for (const answer of [
          await read(user),
          await user.session.get('/api/balance'),
          await user.key.post('/v1/images/generations', body),
          await user.session.post('/api/tasks', { ...body, mode: 'image' }),
          await gateway.anonymous.post('/api/auth/login', { email: user.email, password: user.password }),
          await user.session.post('/api/redeem', { code: 'x' }),
        ]) {
          expectError(answer, 429, 'rate_limiter_unavailable', null);
          expect(verdictOf(answer)).to.equal(BY_NOBODY);
          expect(quotaOf(answer)).to.include({ remaining: 0, wait: 1 });
        }
        for (const key of ['sk-svc_wrong', `${user.apiKey}x`, 'a b']) {
          const answer = await gateway.anonymous.get('/v1/models', { authorization: `Bearer ${key}` });
          expectError(answer, 401, 'invalid_api_key');
        }
        expectError(await gateway.anonymous.get('/v1/models'), 401, 'missing_api_key');
        expectError(await gateway.anonymous.get('/api/balance'), 401, 'not_authenticated');
        expect(await gateway.em().count(TaskEntity, { userId: user.id })).to.equal(0);
      } finally {
        await redis.restart();
      }
    });

    it('it is ready, and degraded', async () => {
      const health = createHealthServer(gateway.services, gateway.database, () => false);
      await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
      const address = health.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const ask = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`);
        return { status: response.status, body: await response.json() };
      };
      try {
        expect((await ask('/readyz')).body).to.include({ status: 'ok', redis: 'ok' });
        await redis.kill();
        await until('Redis is missed', async () => gateway.services.limits.redis() === 'down');
        const { status, body } = await ask('/readyz');
        expect(status).to.equal(200);
        expect(body).to.include({ status: 'degraded', redis: 'down' });
        expect((await ask('/livez')).status).to.equal(200);
      } finally {
        await redis.restart();
        health.closeAllConnections();
        health.close();
      }
    });

    it('a task that was created before is completed and charged', async () => {
      const task = await orderImage(user.session, 'seconds=2');
      await untilSubmitted(gateway, task);
      await redis.kill();
      try {
        await until('the task is completed', async () => {
          const { status } = await gateway.em().findOneOrFail(TaskEntity, { id: task.id });
          return status === 'completed';
        });
        expect(verdictOf(await read(user))).to.equal(BY_NOBODY);
      } finally {
        await redis.restart();
      }
      await untilBack();
      await expectOneChargeAndSubmission(gateway, user, task);
      await gateway.expectSoundMoney();
    });
  });
});
