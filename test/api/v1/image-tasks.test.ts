// GET /v1/images/tasks/:id: how an image task looks while it runs and after it has ended.
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import { StorageUnavailable } from '../../../storage/storage.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until, untilFinal, untilStatus } from '../../support/until.ts';

const PATH = '/v1/images/generations';
const MODEL = 'gpt-image-2';
const QUICK = '[[sandbox seconds=0]]';

describe('GET /v1/images/tasks/:id', () => {
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

  it('tells to come back while the task runs, and shows no result before it has completed', async () => {
    const { body: created } = await create({ prompt: 'a slow cat [[sandbox outcome=stuck]]' });
    await untilStatus(owner.session, created.id, 'in_progress');
    const { body, headers } = await read(created.id);
    expect(body).to.include({ status: 'in_progress', outputUrl: null, creditsCharged: 0 });
    expect(body).not.to.have.any.keys('result', 'error', 'errorMessage', 'completed_at');
    expect(headers.get('retry-after')).to.equal('2');
    await owner.session.delete(`/api/tasks/${created.id}`);
  });

  it('shows a cancelled task as failed, with the code task_cancelled', async () => {
    const { body: created } = await create({ prompt: '[[sandbox outcome=stuck]]' });
    await owner.session.delete(`/api/tasks/${created.id}`);
    const { body, headers } = await read(created.id);
    expect(body).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
    expect(body.error.code).to.equal('task_cancelled');
    expect(body.errorMessage).to.equal(body.error.message).and.to.be.a('string').that.is.not.empty;
    expect(body).not.to.have.property('result');
    expect(body.completed_at).to.satisfy(Number.isInteger);
    expect(headers.get('retry-after')).to.equal(null);
  });

  const failures: [directive: string, code: string][] = [
    ['outcome=fail', 'upstream_error'],
    ['outcome=moderated', 'content_rejected'],
    ['outcome=fail reason=invalid', 'upstream_rejected'],
    ['submit=401', 'upstream_error'],
    ['submit=400', 'upstream_rejected'],
    ['deliver=0', 'upstream_invalid_response'],
    ['result=html', 'upstream_invalid_response'],
  ];
  for (const [directive, code] of failures) {
    it(`shows ${directive} as failed with ${code}, and charges nothing`, async () => {
      const { body } = await create({ prompt: `[[sandbox seconds=0 ${directive}]]` });
      const task = await finished(body.id);
      expect(task).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
      expect(task.error).to.deep.equal({ code, message: task.errorMessage });
      expect((await balance()).reserved).to.equal(0);
    });
  }

  it('masks what a vendor’s error gives away', async () => {
    const { body } = await create({ prompt: '[[sandbox submit=400 text=leaky]]' });
    const { errorMessage } = await finished(body.id);
    expect(errorMessage).to.match(/^The provider refused this request\./);
    expect(errorMessage).to.have.length.at.most(500);
    for (const part of [...Object.values(SENSITIVE_PARTS), 'sk-live', 'vendor-backend', '/srv', 'iVBOR'])
      expect(errorMessage).not.to.contain(part);
  });

  it('puts the images themselves into the answer when b64_json was ordered', async () => {
    const { body } = await create({ prompt: `inline ${QUICK}`, n: 2, response_format: 'b64_json' });
    const { result } = await finished(body.id);
    expect(result.data).to.have.length(2);
    for (const { url, b64_json } of result.data) {
      const stored = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(stored.equals(Buffer.from(b64_json, 'base64'))).to.equal(true);
      expect(stored.subarray(1, 4).toString()).to.equal('PNG');
    }
  });

  it('answers 503 storage_unavailable while the storage is away that has the images to be put in', async () => {
    const { body } = await create({ prompt: QUICK, response_format: 'b64_json' });
    await finished(body.id);
    const { storage } = gateway.services;
    const away = (): never => {
      throw new StorageUnavailable(new Error('ECONNREFUSED 10.0.0.1'));
    };
    gateway.services.storage = { ...storage, read: async () => away() };
    try {
      const answer = await read(body.id);
      expectError(answer, 503, 'storage_unavailable', null);
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(JSON.stringify(answer.body)).not.to.include('10.0.0.1');
    } finally {
      gateway.services.storage = storage;
    }
    expect((await read(body.id)).body.result.data[0].b64_json).to.be.a('string');
  });

  it('reads tasks that were made in the console', async () => {
    const { body } = await owner.session.post('/api/tasks', {
      mode: 'image',
      model: MODEL,
      prompt: `c ${QUICK}`,
    });
    await untilFinal(owner.session, body.data.id);
    expect((await read(body.data.id)).body).to.include({ id: body.data.id, status: 'completed' });
  });

  const strange = [
    'x',
    'task_',
    'task_0000000000000000000000000',
    'task_ILOU0000000000000000000000',
    'a%2Fb',
    '%00',
    "'",
  ];
  for (const id of strange) {
    it(`does not know ${id}`, async () => expectError(await read(id), 404, 'task_not_found', null));
  }
});
