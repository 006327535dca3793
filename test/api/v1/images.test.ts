// POST /v1/images/generations: what an order estimates, sets aside, delivers and costs.
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { until } from '../../support/until.ts';

const PATH = '/v1/images/generations';
const MODEL = 'gpt-image-2';
const QUICK = '[[sandbox seconds=0]]';

describe('POST /v1/images/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = (fields: object) => owner.key.post(PATH, { model: MODEL, ...fields });
  const read = (id: string) => owner.key.get(`/v1/images/tasks/${id}`);
  const finished = (id: string) =>
    until(`image task ${id} has ended`, async () => {
      const answer = await read(id);
      return ['completed', 'failed'].includes(answer.body.status) && answer.body;
    });
  const balance = async () => (await owner.key.get('/v1/balance')).body.data;

  it('answers 202 with a queued task, its estimate and nothing else', async () => {
    const { status, body, headers } = await create({ prompt: `a cat ${QUICK}` });
    expect(status).to.equal(202);
    expect(body).to.include({ object: 'generation.task', model: MODEL, status: 'queued', progress: 0 });
    expect(body).to.have.all.keys(
      ...['id', 'object', 'model', 'status', 'progress', 'creditsEstimate', 'created_at'],
    );
    expect(body.creditsEstimate).to.equal(4);
    expect(body.id).to.match(/^task_[0-9A-Z]{26}$/);
    expect(body.created_at)
      .to.be.closeTo(Date.now() / 1000, 60)
      .and.to.satisfy(Number.isInteger);
    expect(headers.get('location')).to.equal(`/v1/images/tasks/${body.id}`);
    expect(headers.get('retry-after')).to.equal('2');
    await finished(body.id);
  });

  it('completes, charges the estimate once and links to the images', async () => {
    const before = await balance();
    const { body } = await create({ prompt: `two cats ${QUICK}`, n: 2, resolution: '2K', size: '16:9' });
    const task = await finished(body.id);
    expect(task).to.include({
      status: 'completed',
      progress: 100,
      creditsEstimate: 20,
      creditsCharged: 20,
    });
    expect(task.result.data).to.have.length(2);
    expect(task.outputUrl).to.equal(task.result.data[0].url);
    const image = await fetch(task.outputUrl);
    expect(image.headers.get('content-type')).to.equal('image/png');
    expect(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).to.equal('PNG');
    const after = await balance();
    expect(before.balance - after.balance).to.equal(20);
    expect(after.reserved).to.equal(0);
    expect(await countSubmissions(gateway.sandboxUrl, 'two cats')).to.equal(1);
  });

  it('names the request that ordered it beside the charge in the ledger', async () => {
    const order = { model: MODEL, prompt: `a named cat ${QUICK}` };
    const { body } = await owner.key.post(PATH, order, { 'x-request-id': 'order-7' });
    await finished(body.id);
    const { data } = (await owner.session.get('/api/balance?includeLedger=1')).body;
    const charge = data.ledger.find(({ taskId }: { taskId: string | null }) => taskId === body.id);
    expect(charge).to.include({ type: 'charge', requestId: 'order-7' });
  });

  it('sets 4, 10 and 18 credits aside for 1K, 2K and 4K, times n, until the task ends', async () => {
    const estimates: [resolution: string, n: number, credits: number][] = [
      ['1K', 1, 4],
      ['2K', 1, 10],
      ['4K', 1, 18],
      ['1K', 4, 16],
      ['2K', 4, 40],
      ['4K', 4, 72],
    ];
    const check = async ([resolution, n, credits]: (typeof estimates)[number]): Promise<void> => {
      const user = await gateway.createUser(100);
      const reserved = async () => (await user.key.get('/v1/balance')).body.data.reserved;
      const fields = { model: MODEL, prompt: '[[sandbox outcome=stuck]]', resolution, n };
      const { body } = await user.key.post(PATH, fields);
      expect(body.creditsEstimate, resolution).to.equal(credits);
      expect(await reserved(), resolution).to.equal(credits);
      expect((await user.session.delete(`/api/tasks/${body.id}`)).status).to.equal(200);
      expect(await reserved(), resolution).to.equal(0);
    };
    await Promise.all(estimates.map(check));
  });

  it('takes every size of the list', async () => {
    const sizes = '1:1 3:2 2:3 4:3 3:4 5:4 4:5 16:9 9:16 2:1 1:2 21:9 9:21'.split(' ');
    const answers = await Promise.all(
      sizes.map((size) =>
        owner.key.post('/v1/estimates', { mode: 'image', model: MODEL, prompt: 'a', size }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(sizes.map(() => 200));
  });

  it('counts code points, not UTF-16 units: 32,000 emoji are not too long', async () => {
    const { status, body } = await create({ prompt: QUICK + '🐱'.repeat(32_000 - QUICK.length) });
    expect(status).to.equal(202);
    await finished(body.id);
  });

  it('judges the last of two equal fields', async () => {
    const send = (text: string) =>
      owner.key.send('POST', '/v1/estimates', {
        body: `{"mode":"image","model":"${MODEL}","prompt":"a",${text}}`,
        headers: { 'content-type': 'application/json' },
      });
    expectError(await send('"n":1,"n":100'), 400, 'invalid_value', 'n');
    expect((await send('"n":1,"n":2')).body.data.creditsEstimate).to.equal(8);
  });

  it('ignores fields it does not know', async () => {
    const { status, body } = await create({ prompt: `quality ${QUICK}`, quality: 'high', user: 'u-1' });
    expect(status).to.equal(202);
    expect(await finished(body.id)).to.include({ status: 'completed' });
  });

  it('takes an image as data URI under either name, and under both if they agree', async () => {
    const images = [PNG_DATA_URI];
    const bodies = [
      { image_urls: images },
      { reference_images: images },
      { image_urls: images, reference_images: images },
    ];
    for (const fields of bodies) {
      const { status, body } = await create({ prompt: `edit ${QUICK}`, ...fields });
      expect(status).to.equal(202);
      expect(await finished(body.id)).to.include({ status: 'completed', creditsCharged: 6.6 });
    }
  });
});
