// Long bodies of a user are received some at once: others of that user stay unread, and no other user waits.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { LONG_BODY_BYTES } from '../../../api/http/long-work.ts';
import { RECEIVING_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { createTurns } from '../../../api/http/turns.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const ORDER = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
const LONG = { ...ORDER, pad: 'x'.repeat(LONG_BODY_BYTES) };

describe('long bodies of a user', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let other: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    other = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('beyond those that are received wait unread until one has come, and nobody else waits', async () => {
    const { receivingTurns } = gateway.services;
    const slow = await Promise.all(
      Array.from({ length: RECEIVING_TURN_LIMITS.turnsPerUserMax + 1 }, () => sendSlowly(owner)),
    );
    await until('one waits', async () => receivingTurns.countWaiting(owner.id) === 1);
    const last = owner.key.post('/v1/estimates', LONG);
    await until('one more waits', async () => receivingTurns.countWaiting(owner.id) === 2);
    expect((await owner.key.post('/v1/estimates', ORDER)).status).to.equal(200);
    expect((await other.key.post('/v1/estimates', LONG)).status).to.equal(200);
    expect(receivingTurns.countWaiting(owner.id)).to.equal(2);
    for (const socket of slow.slice(0, 2)) socket.write('"}');
    expect((await last).status).to.equal(200);
    for (const socket of slow) socket.destroy();
    await until('no turn is held', async () => (await owner.key.post('/v1/estimates', LONG)).status === 200);
  });

  it('are refused with 503 when their turn does not come, and read when it does', async () => {
    const { services } = gateway;
    const usual = services.receivingTurns;
    services.receivingTurns = createTurns({ ...RECEIVING_TURN_LIMITS, turnsPerUserMax: 1, waitMsMax: 20 });
    const end = services.receivingTurns.tryTake(owner.id);
    const refused = await owner.key.post('/v1/estimates', LONG);
    end?.();
    const read = await owner.key.post('/v1/estimates', LONG);
    services.receivingTurns = usual;
    expectError(refused, 503, 'overloaded', null);
    expect(read.status).to.equal(200);
  });

  it('of no announced length take their turn when they have become long, and short ones take none', async () => {
    const { services } = gateway;
    const usual = services.receivingTurns;
    services.receivingTurns = createTurns({ ...RECEIVING_TURN_LIMITS, turnsPerUserMax: 1 });
    const end = services.receivingTurns.tryTake(owner.id);
    const short = await sendUnannounced(ORDER);
    const long = sendUnannounced(LONG);
    await until('the long one waits', async () => services.receivingTurns.countWaiting(owner.id) === 1);
    end?.();
    const statuses = [short.status, (await long).status];
    services.receivingTurns = usual;
    expect(statuses).to.deep.equal([200, 200]);
  });

  /** Sends a body in chunks, without its length. */
  function sendUnannounced(order: object): Promise<Response> {
    const headers = { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' };
    const body = new Blob([JSON.stringify(order)]).stream();
    return fetch(`${gateway.baseUrl}/v1/estimates`, { method: 'POST', headers, body, duplex: 'half' });
  }

  /** Sends all of a long body but its last two characters. */
  async function sendSlowly({ apiKey }: TestUser): Promise<Socket> {
    const body = JSON.stringify(LONG);
    const socket = connect(Number(new URL(gateway.baseUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = ['POST /v1/estimates HTTP/1.1', 'host: a', `authorization: Bearer ${apiKey}`];
    const kind = ['content-type: application/json', `content-length: ${body.length}`];
    socket.write(`${[...head, ...kind].join('\r\n')}\r\n\r\n${body.slice(0, -2)}`);
    socket.on('error', () => undefined);
    return socket;
  }
});
