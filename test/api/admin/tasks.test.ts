// The tasks of all users for administrators: there, filtered, and with everything that is the owner's masked.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { IMAGE_MODEL, orderImage, orderVideo } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

const TASKS = '/api/admin/tasks';
const MASKED = '[masked]';

describe('GET /api/admin/tasks', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let one: TestUser;
  let other: TestUser;

  before(async () => {
    gateway = await startGateway();
    chief = await createAdministrator(gateway, ['tasks.read']);
    [one, other] = [await gateway.createUser(), await gateway.createUser()];
  });
  after(() => gateway.stop());

  const read = async (query = '') => (await chief.session.get(`${TASKS}?${query}`)).body;
  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

  it('shows every user’s tasks with what is theirs masked, and null where there is nothing', async () => {
    const done = await orderVideo(one.session);
    const failed = await orderImage(other.session, 'submit=400');
    const own = await untilFinal(one.session, done.id);
    await untilFinal(other.session, failed.id);
    const body = await read();
    expect(idsOf(body)).to.deep.equal([failed.id, done.id]);
    const [second, first] = body.data;
    expect(first).to.deep.equal({
      id: done.id,
      userId: one.id,
      keyId: null,
      mode: 'video',
      model: own.model,
      status: 'completed',
      progress: 100,
      creditsEstimate: own.creditsEstimate,
      creditsCharged: own.creditsCharged,
      billingMode: own.billingMode,
      prompt: MASKED,
      requestPayload: MASKED,
      upstreamTaskId: MASKED,
      outputUrl: MASKED,
      outputs: [{ url: MASKED, contentType: 'video/mp4' }],
      outputText: null,
      errorMessage: null,
      errorCode: null,
      attempt: 1,
      createdAt: own.createdAt,
      updatedAt: own.updatedAt,
      startedAt: own.startedAt,
      completedAt: own.completedAt,
      cancelRequestedAt: null,
      resultExpiredAt: null,
    });
    expect(second).to.include({
      userId: other.id,
      status: 'failed',
      creditsCharged: 0,
      errorMessage: MASKED,
    });
    expect(second).to.include({ upstreamTaskId: null, outputUrl: null });
    const text = JSON.stringify(body);
    for (const secret of [done.word, failed.word, own.upstreamTaskId, own.outputUrl, 'http'])
      expect(text).not.to.contain(secret);
  });

  it('filters by status, mode and user, and pages', async () => {
    const { id } = await orderImage(one.session);
    await untilFinal(one.session, id);
    expect(idsOf(await read(`userId=${one.id}`))).to.have.length(2);
    expect(idsOf(await read(`userId=${one.id}&mode=image&status=completed`))).to.deep.equal([id]);
    expect(idsOf(await read(`userId=${makeId('usr')}`))).to.deep.equal([]);
    const page = await read('limit=1');
    expect(page).to.deep.include({ hasMore: true, nextCursor: id });
    expect(idsOf(await read(`limit=1&cursor=${id}`))).not.to.contain(id);
    for (const query of ['status=done', 'mode=sound', 'userId=me', 'limit=101', 'cursor=x'])
      expectError(await chief.session.get(`${TASKS}?${query}`), 400, 'invalid_value', query.split('=')[0]);
  });

  it('names the key that ordered a task, and lists the tasks of that key', async () => {
    const { id: keyId } = await one.session.get('/api/keys').then(({ body }) => body.data[0]);
    const order = { model: IMAGE_MODEL, prompt: 'a dog' };
    const { id } = (await one.key.post('/v1/images/generations', order)).body;
    const { data } = await read(`keyId=${keyId}`);
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ id, keyId, userId: one.id });
  });

  it('decrypts nothing: it works without the key that the prompts were encrypted with', async () => {
    await one.session.post('/api/tasks', { mode: 'image', model: IMAGE_MODEL, prompt: 'a cat' });
    await gateway.em().execute(sql`update task_request set secret_key_id = 'gone'`);
    const { status, body } = await chief.session.get(TASKS);
    expect(status).to.equal(200);
    expect(body.data[0]).to.include({ prompt: MASKED, requestPayload: MASKED });
  });

  it('shows users no more than their own', async () => {
    expectError(await one.session.get(TASKS), 403, 'permission_denied');
  });
});
