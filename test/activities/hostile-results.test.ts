// A vendor whose answer about a job cannot be true: the task ends at once, and costs nothing.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderVideo, readAvailable } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

describe('a task whose vendor says that it has ended', () => {
  let answer: object = {};
  let vendor: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    vendor = await startStandIn((res, { method }) =>
      sendJson(res, 200, method === 'POST' ? { request_id: randomUUID() } : answer),
    );
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
    owner = await gateway.createUser(1_000);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  afterEach(() => gateway.expectSoundMoney());

  const usage = { cost_in_usd_ticks: Number.MAX_SAFE_INTEGER };
  const rows: [what: string, answer: object, errorCode: string][] = [
    [
      'under a link of a megabyte',
      { status: 'done', video: { url: `https://example.com/${'a'.repeat(1_000_000)}`, duration: 5 }, usage },
      'upstream_invalid_response',
    ],
    [
      'under a link into the operator’s network',
      { status: 'done', video: { url: 'https://169.254.169.254/latest', duration: 1e308 }, usage },
      'result_unavailable',
    ],
    [
      'and names the error “constructor”',
      { status: 'failed', error: { code: 'constructor', message: 'no' } },
      'upstream_error',
    ],
  ];
  for (const [what, json, errorCode] of rows)
    it(`${what}, fails as ${errorCode} and costs nothing`, async () => {
      answer = json;
      const task = await orderVideo(owner.session);
      expect(await untilFinal(owner.session, task.id)).to.include({ errorCode, creditsCharged: 0 });
      expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
    });
});
