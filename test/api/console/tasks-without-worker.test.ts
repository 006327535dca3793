// What the console answers while no worker runs, and what becomes of it when one is back.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { untilFinal } from '../../support/until.ts';
import { reserve } from '../../../db/ledger/reservations.ts';

const VIDEO = { mode: 'video', model: 'grok-imagine-video', duration: 1 };

describe('console tasks without a worker', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(100);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (prompt: string) => owner.session.post('/api/tasks', { ...VIDEO, prompt });
  const reserved = async () => (await owner.session.get('/api/balance')).body.data.reserved;

  it('are accepted as queued, can be cancelled at once, and never reach the vendor', async () => {
    const { status, body } = await create('never begun');
    expect(status).to.equal(202);
    expect(body.data).to.include({ status: 'queued', creditsEstimate: 14 });
    expect(await reserved(), 'the earmark counts').to.equal(14);
    const cancelled = await owner.session.delete(`/api/tasks/${body.data.id}`);
    expect(cancelled.status).to.equal(200);
    expect(cancelled.body.data.status).to.equal('cancelled');
    expect(await reserved()).to.equal(0);
  });

  it('are accepted only as far as the balance covers all that wait, also when they come at once', async () => {
    const poor = await gateway.createUser(70);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => poor.session.post('/api/tasks', { ...VIDEO, prompt: 'never begun' })),
    );
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).to.have.length(5);
    for (const { status, body } of answers.filter((answer) => !accepted.includes(answer))) {
      expect(status).to.equal(402);
      expect(body.error).to.include({ code: 'insufficient_credits', required: 14, available: 0 });
    }
    for (const { body } of accepted) await poor.session.delete(`/api/tasks/${body.data.id}`);
  });

  it('start when the worker is there; a cancellation that was still running (202) ends then', async () => {
    const [kept, unwanted] = await Promise.all([
      create('[[sandbox seconds=0]]'),
      create('not wanted any more'),
    ]);
    const { id } = unwanted.body.data;
    await reserve(gateway.em(), { taskId: id, attempt: 1 });
    const { status, body } = await owner.session.delete(`/api/tasks/${id}`);
    expect(status).to.equal(202);
    expect(body.data).to.include({ id, status: 'queued', creditsCharged: 0 });
    expect(body.data.cancelRequestedAt).to.be.a('string');
    expect(await reserved()).to.equal(28);

    await gateway.startWorker();
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    expect(await untilFinal(owner.session, kept.body.data.id)).to.include({ status: 'completed' });
    expect(await reserved()).to.equal(0);
    for (const prompt of ['never begun', 'not wanted any more'])
      expect(await countSubmissions(gateway.sandboxUrl, prompt)).to.equal(0);
  });
});
