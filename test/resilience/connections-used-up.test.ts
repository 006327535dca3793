// All of the API's database connections are taken: it answers 503 quickly, health and settlement go on, and
// it recovers.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { createActor, type Actor } from '../support/http/http.ts';
import { startApiProcess, startWorkerProcess, type ApiProcess } from '../support/servers/process.ts';
import { orderImage } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const CONNECTIONS = 2;

describe('an API whose database connections are used up', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let api: ApiProcess;
  let owner: TestUser;
  let atApi: Actor;

  before(async () => {
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    const worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    api = await startApiProcess({ ...gateway.env, SVC_DATABASE_CONNECTIONS_MAX: String(CONNECTIONS) });
    cleanup.later(() => api.process.kill());
    owner = await gateway.createUser();
    atApi = createActor(
      () => api.baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
  });
  after(() => cleanup.run());

  /** Locks the table of keys, so that each request that looks up a key holds its connection and waits. */
  async function whileKeysAreLocked(work: () => Promise<void>): Promise<void> {
    await gateway.em().transactional(async (em) => {
      await em.execute('lock table api_key in access exclusive mode');
      await work();
    });
  }

  it('answers 503 overloaded in 600 ms, stays alive and ready, and settles what is under way', async () => {
    const task = await orderImage(owner.session, 'seconds=0.5');
    // Requests with one key share a look-up: each connection takes another one.
    const users = await Promise.all(Array.from({ length: CONNECTIONS }, () => gateway.createUser()));
    const others = users.map(({ apiKey }) =>
      createActor(
        () => api.baseUrl,
        () => ({ authorization: `Bearer ${apiKey}` }),
      ),
    );
    await whileKeysAreLocked(async () => {
      const stuck = others.map((other) => other.get('/v1/balance'));
      await until('every connection waits', async () => {
        const text = await (await fetch(`${api.internalUrl}/metrics`)).text();
        return text.includes(`svc_database_pool_connections{state="used"} ${CONNECTIONS}`);
      });
      const startedAt = Date.now();
      const refused = await atApi.get('/v1/balance');
      const tookMs = Date.now() - startedAt;
      expect(refused.status).to.equal(503);
      expect(refused.body.error.code).to.equal('overloaded');
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect(tookMs).to.be.within(450, 900); // 600, and room for a busy machine

      const ready = await fetch(`${api.internalUrl}/readyz`);
      expect(ready.status).to.equal(200);
      expect(await ready.json()).to.include({ database: 'ok' });
      // The waiting requests give up at the time limit of their lock.
      for (const answer of await Promise.all(stuck))
        expect(answer.body.error.code).to.equal('service_unavailable');
    });
    expect(await untilFinal(owner.session, task.id)).to.include({ status: 'completed' });
    expect((await atApi.get('/v1/balance')).status).to.equal(200);
    await gateway.expectSoundMoney();
  });
});
