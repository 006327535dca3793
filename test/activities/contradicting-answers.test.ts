// Two workers ask a vendor about one job, as when one of them is cut off from Temporal alone, and are told
// contradicting ends: the one that is recorded first stands.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import * as submissions from '../../db/tasks/submissions.ts';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderVideo, readAvailable, VIDEO_CREDITS } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

/** The beginning of an MP4 file, which is all that its type is told by. */
const MP4 = Buffer.from('000000146674797069736f6d0000000069736f6d', 'hex');
const FAILED = { status: 'failed', error: { code: 'internal_error', message: 'Something broke.' } };
const BLOCKED = { code: 'content_rejected', errorText: 'Not this picture.' } as const;

describe('a job of which another worker has recorded the end while its vendor is asked', () => {
  let vendor: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;
  let asked = Promise.withResolvers<ServerResponse>();

  before(async () => {
    vendor = await startStandIn((res, { method, path }) => {
      if (method === 'POST') return sendJson(res, 200, { request_id: randomUUID() });
      if (path.endsWith('.mp4')) return res.writeHead(200).end(MP4);
      return asked.resolve(res);
    });
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
    asked = Promise.withResolvers();
  });
  afterEach(() => gateway.expectSoundMoney());

  const done = () => ({ status: 'done', video: { url: `${vendor.url}/file.mp4`, duration: 1 } });

  it('as a success: it completes and is charged once, although the vendor says now that it failed', async () => {
    const { id } = await orderVideo(owner.session);
    const res = await asked.promise;
    const task = { taskId: id, attempt: 1 };
    const kept = JSON.stringify([{ kind: 'url', url: done().video.url }]);
    const results = gateway.secrets.seal('result', `${id}:1`, kept);
    await submissions.recordSucceeded(gateway.em(), task, { results, evidence: { seconds: 1 } });
    sendJson(res, 200, FAILED);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'completed', errorCode: null });
    const balance = 1_000 - VIDEO_CREDITS;
    expect(await readAvailable(owner)).to.include({ balance, reserved: 0 });
  });

  it('as a failure: its owner is told that one and pays nothing, although the vendor has finished now', async () => {
    const { id } = await orderVideo(owner.session);
    const res = await asked.promise;
    await submissions.recordEnded(gateway.em(), { taskId: id, attempt: 1 }, BLOCKED);
    sendJson(res, 200, done());
    const ended = await untilFinal(owner.session, id);
    expect(ended).to.include({ errorCode: BLOCKED.code, creditsCharged: 0 });
    expect(ended.errorMessage).to.include(BLOCKED.errorText);
    expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
  });
});
