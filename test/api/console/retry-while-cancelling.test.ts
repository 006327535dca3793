// A retry and a cancellation of the same failed task at the same moment: one of few answers each, never 500.
import { expect } from 'chai';
import { createFailedTask, raceRetries, raceRetry, type RetryRaces } from '../../support/retry-races.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage, readAvailable } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

const TIMES = 100;

describe('a retry and a cancellation of one failed task at the same moment', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let races: RetryRaces;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(10_000);
    races = { gateway, owner, order: () => orderImage(owner.session), remove: cancel };
  });
  afterEach(() => gateway.expectSoundMoney());

  const cancel = (id: string) => owner.session.delete(`/api/tasks/${id}`);

  it(`${TIMES} times: the retry answers 202 or 409, the cancellation 200, 202 or 409, and the task can end`, async () => {
    for (const id of await raceRetries(races, TIMES)) {
      expect((await cancel(id)).status).to.be.oneOf([200, 409]);
      expect((await untilFinal(owner.session, id)).status).to.be.oneOf(['cancelled', 'failed']);
    }
    expect(await readAvailable(owner)).to.include({ balance: 10_000, reserved: 0 });
  });

  it('while a worker runs: the task ends, charged if it completed and free if not', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => createFailedTask(races)));
    await gateway.startWorker();
    await Promise.all(ids.map((id) => raceRetry(races, id)));
    let charged = 0;
    for (const id of ids) {
      expect((await cancel(id)).status).to.be.oneOf([200, 202, 409]);
      const ended = await untilFinal(owner.session, id);
      expect(ended.creditsCharged).to.equal(ended.status === 'completed' ? ended.creditsEstimate : 0);
      charged += ended.creditsCharged;
    }
    expect(await readAvailable(owner)).to.include({ balance: 10_000 - charged, reserved: 0 });
  });
});
