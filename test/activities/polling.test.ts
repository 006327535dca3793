// Polling a job by a worker whose clock is not that of the database, and one that its vendor loses sight of.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderVideo, readAvailable } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

/** The beginning of an MP4 file, which is all that its type is told by. */
const MP4 = Buffer.from('000000146674797069736f6d0000000069736f6d', 'hex');

const MINUTE_MS = 60_000;
/** Past the first moments of a job. */
const OLD_MS = 31_000;

describe('a job that its vendor does not see for a moment after it took it', () => {
  const system = startTestSystem();
  const { now } = Date;
  afterEach(() => {
    Date.now = now;
  });

  for (const [what, aheadMs] of [
    ['a minute ahead', MINUTE_MS],
    ['a minute behind', -MINUTE_MS],
  ] as const)
    it(`is waited for by a worker whose clock is ${what}, and its task completes`, async () => {
      Date.now = () => now() + aheadMs;
      const { id } = await orderVideo(system.owner.session, 'seconds=0 poll=not_found*2');
      expect(await untilFinal(system.owner.session, id)).to.include({ status: 'completed' });
    });
});

describe('a job that is half a minute old', () => {
  const now = performance.now.bind(performance);
  let vendor: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;
  /** How many looks the vendor answers with 404, after a first one. */
  let missing = 0;
  let looks = 0;
  let firstLook = Promise.withResolvers<void>();

  before(async () => {
    vendor = await startStandIn((res, { method, path }) => {
      if (method === 'POST') return sendJson(res, 200, { request_id: randomUUID() });
      if (path.endsWith('.mp4')) return res.writeHead(200).end(MP4);
      looks += 1;
      performance.now = () => now() + OLD_MS;
      firstLook.resolve();
      if (looks === 1) return sendJson(res, 200, { status: 'pending' });
      if (looks <= missing + 1) return res.writeHead(404).end('<html>no such route</html>');
      sendJson(res, 200, { status: 'done', video: { url: `${vendor.url}/file.mp4`, duration: 1 } });
    });
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
    looks = 0;
    firstLook = Promise.withResolvers();
  });
  afterEach(() => {
    performance.now = now;
  });

  it('is not given up for one 404 of a gateway before its vendor, and its task completes', async () => {
    missing = 1;
    const { id } = await orderVideo(owner.session);
    await firstLook.promise;
    expect(await untilFinal(owner.session, id)).to.include({ status: 'completed' });
  });

  it('is given up when its vendor goes on to say that it has none, and its owner pays nothing', async () => {
    missing = Infinity;
    const { id } = await orderVideo(owner.session);
    await firstLook.promise;
    expect(await untilFinal(owner.session, id)).to.include({ status: 'failed', errorCode: 'upstream_error' });
    expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
  });
});
