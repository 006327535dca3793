// Answers that hold images as base64: a caller who does not take them has few of them in memory.
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { INLINE_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { PNG, sendJson, startStandIn, type StandIn } from '../../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until, untilFinal } from '../../support/until.ts';

const { turnsPerUserMax: ANSWERS_OF_USER_MAX } = INLINE_TURN_LIMITS;
const READERS = 2 * ANSWERS_OF_USER_MAX;

describe('images in answers as base64', () => {
  let vendor: StandIn;
  let gateway: TestGateway;

  before(async () => {
    const beforePixels = PNG.length - 12;
    const long = [PNG.subarray(0, beforePixels), Buffer.alloc(9_000_000), PNG.subarray(beforePixels)];
    const b64_json = Buffer.concat(long).toString('base64');
    vendor = await startStandIn((res) => sendJson(res, 200, { data: [{ b64_json }] }));
    gateway = await startGateway({ env: { OPENAI_BASE_URL: vendor.url } });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  async function createImage(owner: TestUser): Promise<string> {
    const order = { model: 'gpt-image-2', prompt: 'a cat', response_format: 'b64_json' };
    const { body } = await owner.key.post('/v1/images/generations', order);
    await untilFinal(owner.session, body.id);
    return `/v1/images/tasks/${body.id}`;
  }

  /** Asks and takes nothing of the answer but its status. */
  function ask(owner: TestUser, path: string): { socket: Socket; status: () => string | null } {
    const { hostname, port } = new URL(gateway.baseUrl);
    const socket = connect(Number(port), hostname);
    let status: string | null = null;
    socket.on('error', () => undefined);
    socket.once('data', (begun: Buffer) => {
      socket.pause();
      status = begun.toString().split(' ')[1] ?? '';
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.apiKey}\r\n\r\n`);
    return { socket, status: () => status };
  }

  it(`are ${ANSWERS_OF_USER_MAX} at once of one user who takes none; others get theirs, and that user later`, async () => {
    const [slow, other] = [await gateway.createUser(1_000), await gateway.createUser(1_000)];
    const [path, othersPath] = [await createImage(slow), await createImage(other)];
    const readers = Array.from({ length: READERS }, () => ask(slow, path));
    const begun = await until('some answers have begun', async () => readers.find(({ status }) => status()));
    expect(begun.status()).to.equal('200');
    expect((await other.key.get(othersPath)).body.result.data[0].b64_json).to.be.a('string');

    await until('all are answered', async () => readers.every(({ status }) => status() !== null));
    const byStatus = Object.groupBy(readers, ({ status }) => status() ?? '');
    expect(Object.keys(byStatus)).to.deep.equal(['200', '503']);
    for (const answers of Object.values(byStatus)) expect(answers).to.have.length(ANSWERS_OF_USER_MAX);

    for (const { socket } of readers) socket.destroy();
    const again = await slow.key.get(path);
    expect(again.status).to.equal(200);
    expect(again.body.result.data[0].b64_json).to.be.a('string');
  });
});
