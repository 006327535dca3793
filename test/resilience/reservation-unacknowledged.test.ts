// The connection to PostgreSQL breaks between a reservation and its answer: the reservation stands.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { readPoolMetrics } from '../../db/pool.ts';
import { CHAT_MODEL, isSettled, say } from '../support/chat.ts';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { uniqueWord } from '../support/tasks.ts';
import { until } from '../support/until.ts';

/** Far below the lease of a call, after which the sweeper would undo the reservation. */
const REPEATED_WITHIN_MS = 25_000;
/** Name of the prepared statement that moves the money of calls. */
const RESERVATION = Buffer.from('move-calls');

describe('a chat call whose reservation is written but not acknowledged', () => {
  const cleanup = createCleanup();
  let proxy: CuttingProxy;
  let gateway: TestGateway;

  before(async () => {
    const direct = process.env['TEST_POSTGRES_URL'] ?? '';
    proxy = await startCuttingProxy(new URL(direct));
    cleanup.later(async () => void proxy.server.close());
    process.env['TEST_POSTGRES_URL'] = proxy.url;
    cleanup.later(async () => void (process.env['TEST_POSTGRES_URL'] = direct));
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
  });
  after(() => cleanup.run());

  it('is undone: a repeat with its key does the work once, and nothing stays reserved', async () => {
    const owner = await gateway.createUser();
    const word = uniqueWord();
    const body = { model: CHAT_MODEL, messages: say('tokens=5', word) };
    const send = () => owner.key.post('/v1/chat/completions', body, { 'idempotency-key': word });

    proxy.cutAtNextReservation();
    const statuses = [(await send()).status];
    await until(
      'a repeat is answered',
      async () => {
        statuses.push((await send()).status);
        return statuses.at(-1) === 200;
      },
      REPEATED_WITHIN_MS,
    );

    expect(proxy.cuts()).to.equal(1);
    for (const status of statuses) expect(status).to.be.oneOf([200, 409, 503]);
    expect(await readJournal(gateway.sandboxUrl, word)).to.have.length(1);
    await until('nothing is reserved', () => isSettled(owner));
    await gateway.expectSoundMoney();
    await until('the broken connection has left the pool', async () => {
      const { open, idle } = readPoolMetrics(gateway.database);
      return open === idle;
    });
  });
});

interface CuttingProxy {
  server: Server;
  url: string;
  cutAtNextReservation(): void;
  cuts(): number;
}

/** Passes bytes to PostgreSQL and back; when armed, it passes a reservation on and swallows its answer. */
async function startCuttingProxy(target: URL): Promise<CuttingProxy> {
  let isArmed = false;
  let cuts = 0;
  const server = createServer((client: Socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isCut = false;
    client.on('data', (bytes: Buffer) => {
      upstream.write(bytes);
      if (!isArmed || !bytes.includes(RESERVATION)) return;
      isArmed = false;
      isCut = true;
      cuts += 1;
    });
    upstream.on('data', (bytes: Buffer) => {
      if (isCut) client.destroy();
      else client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = '127.0.0.1';
  return { server, url: url.href, cutAtNextReservation: () => void (isArmed = true), cuts: () => cuts };
}
