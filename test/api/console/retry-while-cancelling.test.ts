// A retry and a cancellation of the same failed task at the same moment: one of few answers each, never 500.
import { expect } from 'chai';
import { failTask } from '../../../db/tasks/settlement.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage, readAvailable } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

const TIMES = 100;
const AT_ONCE = 10;
const FAILURE = { code: 'upstream_error', message: 'The provider failed.' } as const;

describe('a retry and a cancellation of one failed task at the same moment', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(10_000);
  });
  afterEach(() => gateway.expectSoundMoney());

  async function createFailedTask(): Promise<string> {
    const { id } = await orderImage(owner.session);
    await failTask(gateway.em(), { taskId: id, attempt: 1 }, FAILURE);
    return id;
  }

  async function raceFor(id: string): Promise<void> {
    const [retried, deleted] = await Promise.all([
      owner.session.post(`/api/tasks/${id}/retry`),
      owner.session.delete(`/api/tasks/${id}`),
    ]);
    expect(retried.status, JSON.stringify(retried.body)).to.be.oneOf([202, 409]);
    expect(deleted.status, JSON.stringify(deleted.body)).to.be.oneOf([200, 202, 409]);
  }

  it(`${TIMES} times: the retry answers 202 or 409, the cancellation 200, 202 or 409, and the task can end`, async () => {
    for (let done = 0; done < TIMES; done += AT_ONCE) {
      const ids = await Promise.all(Array.from({ length: AT_ONCE }, createFailedTask));
      await Promise.all(ids.map(raceFor));
      for (const id of ids) {
        const { status } = await owner.session.delete(`/api/tasks/${id}`);
        expect(status).to.be.oneOf([200, 409]);
        expect((await untilFinal(owner.session, id)).status).to.be.oneOf(['cancelled', 'failed']);
      }
    }
    expect(await readAvailable(owner)).to.include({ balance: 10_000, reserved: 0 });
  });

  it('while a worker runs: the task ends, charged if it completed and free if not', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, createFailedTask));
    await gateway.startWorker();
    await Promise.all(ids.map(raceFor));
    let charged = 0;
    for (const id of ids) {
      const { status } = await owner.session.delete(`/api/tasks/${id}`);
      expect(status).to.be.oneOf([200, 202, 409]);
      const ended = await untilFinal(owner.session, id);
      expect(ended.creditsCharged).to.equal(ended.status === 'completed' ? ended.creditsEstimate : 0);
      charged += ended.creditsCharged;
    }
    expect(await readAvailable(owner)).to.include({ balance: 10_000 - charged, reserved: 0 });
  });
});
