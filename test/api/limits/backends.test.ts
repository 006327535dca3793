// Which backend decides about a limit, and how long that takes, whatever happens to Redis.
import { expect } from 'chai';
import { TaskEntity } from '../../../db/entities/tasks.ts';
import { createHealthServer } from '../../../api/monitoring/health.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import { expectOneChargeAndSubmission, orderImage, untilSubmitted } from '../../support/tasks.ts';
import { medianOf, timeOf } from '../../support/timing.ts';
import { until } from '../../support/until.ts';
import {
  ALLOWED,
  BY_REDIS,
  LIMITS,
  readAll,
  readOnce,
  READS,
  RECOVERY_LIMIT_MS,
  startLimitBackends,
  type LimitBackends,
  type RequiresRedis,
} from '../../support/servers/limit-backends.ts';

/** Longest delay by a Redis that does not answer, with a margin for a busy machine. */
const HUNG_LIMIT_MS = 150 + 150;
const ROUNDS = 3;
const READS_TIMED = 40;
const BY_MEMORY = 'rate_limited by memory';
const BY_NOBODY = 'rate_limiter_unavailable by redis_unavailable';

interface Fault {
  title: string;
  begin: () => Promise<unknown> | void;
  end: () => Promise<unknown> | void;
}

describe('who decides about a limit', () => {
  const cleanup = createCleanup();
  let backends: LimitBackends;

  before(async () => {
    backends = await startLimitBackends(cleanup);
  });
  after(() => cleanup.run());
  const faults: Fault[] = [
    { title: 'hanging', begin: () => backends.redis.suspend(), end: () => backends.redis.resume() },
    { title: 'killed', begin: () => backends.redis.kill(), end: () => backends.redis.restart() },
    {
      title: 'read-only',
      begin: () => backends.operator.call('REPLICAOF', '127.0.0.1', '1'),
      end: () => backends.operator.call('REPLICAOF', 'NO', 'ONE'),
    },
    {
      title: 'out of memory',
      begin: () => backends.operator.config('SET', 'maxmemory', '1'),
      end: () => backends.operator.config('SET', 'maxmemory', '0'),
    },
    {
      title: 'slow to write',
      begin: () => backends.operator.call('CLIENT', 'PAUSE', '60000', 'WRITE'),
      end: () => backends.operator.call('CLIENT', 'UNPAUSE'),
    },
  ];
  const table: [required: RequiresRedis, up: string[], away: string[]][] = [
    ['0', [...ALLOWED, BY_REDIS], [...ALLOWED, BY_MEMORY]],
    ['1', [...ALLOWED, BY_REDIS], Array(READS + 1).fill(BY_NOBODY)],
  ];

  for (const { title, begin, end } of faults) {
    for (const [required, up, away] of table) {
      it(`SVC_RATE_LIMIT_REQUIRE_REDIS=${required}, Redis ${title}: ${away.at(-1)}, and redis again within 2 s`, async () => {
        const gateway = backends.gatewayOf(required);
        await backends.untilBack();
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
        await backends.untilBack();
        expect(await readAll(await gateway.createUser())).to.deep.equal(up);
        await gateway.expectSoundMoney();
      });
    }
  }

  it('without Redis it is memory', async () => {
    const gateway = await startGateway({ worker: false, env: LIMITS });
    try {
      expect(await readAll(await gateway.createUser())).to.deep.equal([...ALLOWED, BY_MEMORY]);
      expect(gateway.services.limits.redis()).to.equal('none');
    } finally {
      await gateway.stop();
    }
  });

  it('a gateway that starts while Redis is away refuses at first, and counts when it is there', async () => {
    for (const [begin, end] of [
      [backends.redis.kill, backends.redis.restart],
      [backends.redis.suspend, backends.redis.resume],
    ] as const) {
      await begin();
      const env = { ...LIMITS, REDIS_URL: backends.redis.address, SVC_RATE_LIMIT_REQUIRE_REDIS: '1' };
      const gateway = await startGateway({ worker: false, env }).finally(end);
      try {
        const user = await gateway.createUser();
        const isBack = async (): Promise<boolean> => gateway.services.limits.redis() === 'ok';
        await until('it counts in Redis', isBack, RECOVERY_LIMIT_MS);
        expect(await readAll(user)).to.deep.equal([...ALLOWED, BY_REDIS]);
      } finally {
        await gateway.stop();
      }
    }
  });

  it('a Redis that hangs costs a few requests 150 ms at most, and then none', async () => {
    for (const [required, gateway] of backends.gateways) {
      await backends.untilBack();
      const user = await gateway.createUser();
      const logIn = () => gateway.anonymous.post('/api/auth/login', { email: user.email, password: 'wrong' });
      const usualLogIn = required === '0' ? await timeOf(logIn) : 0;
      const read = () => timeOf(() => readOnce(user));
      const usualRead = medianOf(await inTurn(READS_TIMED, read));
      // The middle one of some rounds, since the machine may be busy during one of them.
      const rounds = await inTurn(ROUNDS, async () => {
        await backends.untilBack();
        backends.redis.suspend();
        try {
          // A login counts three times, and still waits only once.
          const first = [(await timeOf(logIn)) - usualLogIn, ...(await inTurn(4, read))];
          return { first: Math.max(...first), after: medianOf(await inTurn(READS_TIMED, read)) - usualRead };
        } finally {
          backends.redis.resume();
        }
      });
      expect(medianOf(rounds.map(({ first }) => first))).to.be.below(HUNG_LIMIT_MS);
      expect(medianOf(rounds.map(({ after }) => after))).to.be.below(40);
    }
  });

  describe('while Redis is required and dead', () => {
    let user: TestUser;
    let gateway: TestGateway;
    beforeEach(async () => {
      await backends.untilBack();
      gateway = backends.gatewayOf('1');
      user = await gateway.createUser();
    });

    it('everything that is limited is refused, what needs no limiter is not, and it all leaves no trace', async () => {
      await backends.redis.kill();
      try {
        const body = { model: 'gpt-image-2', prompt: 'x' };
        for (const answer of [
          await readOnce(user),
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
        await backends.redis.restart();
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
        await backends.redis.kill();
        await until('Redis is missed', async () => gateway.services.limits.redis() === 'down');
        const { status, body } = await ask('/readyz');
        expect(status).to.equal(200);
        expect(body).to.include({ status: 'degraded', redis: 'down' });
        expect((await ask('/livez')).status).to.equal(200);
      } finally {
        await backends.redis.restart();
        health.closeAllConnections();
        health.close();
      }
    });

    it('a task that was created before is completed and charged', async () => {
      const task = await orderImage(user.session, 'seconds=2');
      await untilSubmitted(gateway, task);
      await backends.redis.kill();
      try {
        await until('the task is completed', async () => {
          const { status } = await gateway.em().findOneOrFail(TaskEntity, { id: task.id });
          return status === 'completed';
        });
        expect(verdictOf(await readOnce(user))).to.equal(BY_NOBODY);
      } finally {
        await backends.redis.restart();
      }
      await backends.untilBack();
      await expectOneChargeAndSubmission(gateway, user, task);
      await gateway.expectSoundMoney();
    });
  });
});

/** The results of this many calls, one after another. */
async function inTurn<Result>(times: number, call: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let turn = 0; turn < times; turn += 1) results.push(await call());
  return results;
}
