// A vendor whose link to a finished video no longer leads there: the vendor is asked for another one.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderVideo, readAvailable, VIDEO_CREDITS } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

/** The beginning of an MP4 file, which is all that its type is told by. */
const MP4 = Buffer.from('000000146674797069736f6d0000000069736f6d', 'hex');

/** Answers a poll of a finished job. */
type Poll = (res: ServerResponse) => void;

describe('a finished video whose link has expired', () => {
  let polls: Poll[] = [];
  let statusOfExpired = 404;
  let vendor: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    vendor = await startStandIn((res, { method, path }) => {
      if (method === 'POST') return sendJson(res, 200, { request_id: randomUUID() });
      if (path === '/expired.mp4') return res.writeHead(statusOfExpired).end();
      if (path === '/renewed.mp4') return res.writeHead(200).end(MP4);
      const poll = polls.length > 1 ? polls.shift() : polls[0];
      return poll?.(res);
    });
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
    owner = await gateway.createUser(1_000);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  afterEach(() => gateway.expectSoundMoney());

  const done =
    (name: string): Poll =>
    (res) =>
      sendJson(res, 200, { status: 'done', video: { url: `${vendor.url}/${name}.mp4`, duration: 1 } });

  async function expectDelivered(): Promise<void> {
    const before = await readAvailable(owner);
    const task = await orderVideo(owner.session);
    const ended = await untilFinal(owner.session, task.id);
    expect(ended).to.include({ status: 'completed', creditsCharged: VIDEO_CREDITS });
    const balance = before.balance - VIDEO_CREDITS;
    expect(await readAvailable(owner)).to.include({ balance, reserved: 0 });
  }

  for (const status of [400, 401, 403, 404, 410])
    it(`is delivered by a new link when the old one answers ${status}`, async () => {
      statusOfExpired = status;
      polls = [done('expired'), done('renewed')];
      await expectDelivered();
    });

  const troubles: [what: string, poll: Poll][] = [
    ['refuses to be asked so often', (res) => sendJson(res, 429, { error: 'slow down' })],
    ['refuses the key for a moment', (res) => sendJson(res, 401, { error: 'no such key' })],
    ['answers with a page', (res) => res.writeHead(200).end('<html>')],
    ['says that the job still runs', (res) => sendJson(res, 200, { status: 'pending' })],
  ];
  for (const [what, trouble] of troubles)
    it(`is delivered when its vendor first ${what}`, async () => {
      statusOfExpired = 404;
      polls = [done('expired'), trouble, done('renewed')];
      await expectDelivered();
    });

  it('fails as result_unavailable and costs nothing when its vendor has no other link', async () => {
    statusOfExpired = 403;
    polls = [done('expired')];
    const before = await readAvailable(owner);
    const task = await orderVideo(owner.session);
    const ended = await untilFinal(owner.session, task.id);
    expect(ended).to.include({ errorCode: 'result_unavailable', creditsCharged: 0 });
    expect(await readAvailable(owner)).to.include({ balance: before.balance, reserved: 0 });
  });
});
