// Lists and summaries take turns: those of one user hold no more than a share of the database connections.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import type { EndTurn } from '../../../api/http/turns.ts';
import { READ_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { DOCUMENT } from '../../../dev/documented.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const CONNECTIONS = 8;
/** A quarter of the connections, and half of that. */
const SHARE = 1;
/** A read that the database needs longer for than it takes to look at its connections. */
const SLOW_READ = 'select pg_sleep(0.002)';

describe('long reads', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let other: TestUser;

  before(async () => {
    gateway = await startGateway({
      worker: false,
      env: { SVC_DATABASE_CONNECTIONS_MAX: String(CONNECTIONS) },
    });
    owner = await gateway.createUser();
    other = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('are all lists and summaries, and their routes say so', () => {
    const long = ROUTES.filter(({ method, path }) => {
      const operation = DOCUMENT.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      return method === 'GET' && /"name":"(limit|interval)"/.test(JSON.stringify(operation));
    });
    expect(long.length).to.be.above(20);
    for (const { path, heavy } of long) expect(heavy, path).to.equal(true);
  });

  it('of a user who has none left wait, and those of another user are answered meanwhile', async () => {
    const end = await hold();
    const { readTurns } = gateway.services;
    const waiting = [owner.session.get('/api/tasks'), owner.session.get('/api/usage/summary')];
    await until('both wait', async () => readTurns.countWaiting() === waiting.length);
    expect((await other.session.get('/api/tasks')).status).to.equal(200);
    expect((await owner.session.get('/api/auth/me')).status).to.equal(200);
    end();
    for (const answer of await Promise.all(waiting)) expect(answer.status).to.equal(200);
  });

  it('of a user at once hold a share of the connections, however many they are', async () => {
    let most = 0;
    const watch = setInterval(() => {
      const { open, idle } = readPoolMetrics(gateway.database);
      most = Math.max(most, open - idle);
    }, 1);
    const reads = Array.from({ length: 60 }, () =>
      gateway.services.readTurns.take(owner.id, new AbortController().signal),
    );
    await Promise.all(
      reads.map(async (taken) => {
        const end = await taken;
        if (typeof end === 'string') throw new Error(end);
        await gateway.database.em.fork().execute(SLOW_READ);
        end();
      }),
    );
    clearInterval(watch);
    expect(most).to.equal(SHARE);
  });

  it('are refused with 429 when too many of a user wait, and with nothing else', async () => {
    const end = await hold();
    const left = new AbortController();
    const { readTurns } = gateway.services;
    const line = Array.from({ length: READ_TURN_LIMITS.lineMax }, () =>
      readTurns.take(owner.id, left.signal),
    );
    const refused = await owner.session.get('/api/usage');
    expectError(refused, 429, 'rate_limited', null);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect((await other.session.get('/api/usage')).status).to.equal(200);
    left.abort();
    end();
    expect(new Set(await Promise.all(line))).to.deep.equal(new Set(['left']));
    expect((await owner.session.get('/api/usage')).status).to.equal(200);
  });

  it('whose caller left while the key was looked up hold no turn', async () => {
    const { port } = new URL(gateway.baseUrl);
    for (let caller = 0; caller < 5; caller += 1) {
      const leaver = await gateway.createUser();
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      const headers = `host: a\r\nauthorization: Bearer ${leaver.apiKey}\r\n`;
      socket.write(`GET /v1/videos?limit=no HTTP/1.1\r\n${headers}\r\n`, () => socket.destroy());
      await once(socket, 'close');
      for (let read = 0; read < 2; read += 1)
        expect((await leaver.session.get('/api/tasks')).status).to.equal(200);
    }
  });

  /** Takes the turns of the owner. */
  async function hold(): Promise<EndTurn> {
    const end = await gateway.services.readTurns.take(owner.id, new AbortController().signal);
    if (typeof end === 'string') throw new Error(end);
    return end;
  }
});
