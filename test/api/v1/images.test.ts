// POST /v1/images/generations and GET /v1/images/tasks/:id, as an API caller meets them.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/gateway.ts';
import { countSubmissions } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const MODEL = 'gpt-image-2';
const QUICK = '[[sandbox seconds=0]]';

describe('POST /v1/images/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(1000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post('/v1/images/generations', { model: MODEL, ...fields });
  const finished = (id: string) =>
    until(`image task ${id} has ended`, async () => {
      const answer = await owner.key.get(`/v1/images/tasks/${id}`);
      return ['completed', 'failed'].includes(answer.body.status) && answer.body;
    });

  it('answers 202 with a queued task and its estimate', async () => {
    const { status, body, headers } = await create({ prompt: `a cat ${QUICK}` });
    expect(status).to.equal(202);
    expect(body).to.include({ object: 'generation.task', model: MODEL, status: 'queued', progress: 0, creditsEstimate: 4 });
    expect(body.id).to.match(/^task_[0-9A-Z]{26}$/);
    expect(body.created_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(headers.get('location')).to.equal(`/v1/images/tasks/${body.id}`);
    await finished(body.id);
  });

  it('completes, charges the estimate once and links to the image', async () => {
    const before = (await owner.key.get('/v1/balance')).body.data.balance;
    const { body } = await create({ prompt: `two cats ${QUICK}`, n: 2, resolution: '2K', size: '16:9' });
    const task = await finished(body.id);
    expect(task).to.include({ status: 'completed', progress: 100, creditsEstimate: 20, creditsCharged: 20 });
    expect(task.result.data).to.have.length(2);
    expect(task.outputUrl).to.equal(task.result.data[0].url);
    const image = await fetch(task.outputUrl);
    expect(image.status).to.equal(200);
    expect(image.headers.get('content-type')).to.equal('image/png');
    expect(image.headers.get('content-disposition')).to.match(/^attachment/);
    expect(image.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(Buffer.from(await image.arrayBuffer()).subarray(1, 4).toString()).to.equal('PNG');
    const after = (await owner.key.get('/v1/balance')).body.data;
    expect(before - after.balance).to.equal(20);
    expect(after.reserved).to.equal(0);
    expect(await countSubmissions(gateway.sandboxUrl, 'two cats')).to.equal(1);
  });
});
