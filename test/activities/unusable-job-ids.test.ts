// A vendor that takes a job and names it by an id that cannot be stored: the job is lost, and that at once.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { orderVideo, readAvailable, readEvents } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

describe('a task whose job the vendor names by an id that cannot be stored', () => {
  let id = '';
  let vendor: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    vendor = await startStandIn((res) => sendJson(res, 200, { request_id: id }));
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
    owner = await gateway.createUser(1_000);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  afterEach(() => gateway.expectSoundMoney());

  const ids = {
    'contains NUL': 'r-1\0',
    'contains half a character': 'r-\ud83d',
    'is longer than an index takes': randomBytes(5_000).toString('hex'),
  };
  for (const [what, unusable] of Object.entries(ids))
    it(`because it ${what}, fails as unknown, is handed over once and costs nothing`, async () => {
      id = unusable;
      vendor.received.length = 0;
      const task = await orderVideo(owner.session);
      const ended = await untilFinal(owner.session, task.id);
      expect(ended).to.include({ errorCode: 'upstream_outcome_unknown', creditsCharged: 0 });
      expect(vendor.received.map(({ method }) => method)).to.deep.equal(['POST']);
      expect(await readEvents(owner.session, task.id)).to.not.include('submitted');
      expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
    });
});
