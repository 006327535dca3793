// DELETE /api/tasks/:id and POST /api/tasks/:id/retry: how a task ends early, and how a failed one begins
// again.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const IMAGE = { mode: 'image', model: 'gpt-image-2' };
const VIDEO = { mode: 'video', model: 'grok-imagine-video', duration: 1 };
const STUCK = '[[sandbox outcome=stuck]]';
const FAILING = '[[sandbox seconds=0 outcome=fail]]';

describe('ending and repeating tasks', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = async (order: object, prompt: string, user = owner): Promise<string> =>
    (await user.session.post('/api/tasks', { ...order, prompt })).body.data.id;
  const ended = async (order: object, prompt: string, user = owner): Promise<string> => {
    const id = await create(order, prompt, user);
    await untilFinal(user.session, id);
    return id;
  };
  const cancel = (id: string) => owner.session.delete(`/api/tasks/${id}`);
  const retry = (id: string, user = owner) => user.session.post(`/api/tasks/${id}/retry`);
  const balance = async (user = owner) => (await user.session.get('/api/balance')).body.data;
  const eventsOf = async (id: string): Promise<string[]> =>
    (await owner.session.get(`/api/tasks/${id}/timeline`)).body.data.map(
      ({ event, attempt }: { event: string; attempt: number }) => `${event} ${attempt}`,
    );

  describe('DELETE /api/tasks/:id', () => {
    for (const order of [IMAGE, VIDEO])
      it(`cancels a running ${order.mode}: 200, nothing charged, nothing set aside`, async () => {
        const before = await balance();
        const id = await create(order, STUCK);
        await untilStatus(owner.session, id, 'in_progress');
        const { status, body } = await cancel(id);
        expect(status).to.equal(200);
        expect(body.data).to.include({ id, status: 'cancelled', creditsCharged: 0, outputUrl: null });
        expect(body.data.errorCode).to.equal('task_cancelled');
        expect(body.data.completedAt).to.be.a('string');
        expect(body.data.cancelRequestedAt).to.be.a('string');
        const { balance: credits, reserved } = await balance();
        expect({ credits, reserved }).to.deep.equal({ credits: before.balance, reserved: 0 });
      });

    it('answers 200 again, and changes nothing, when the task was cancelled before', async () => {
      const id = await create(IMAGE, STUCK);
      const first = await cancel(id);
      const second = await expectNoEffect(gateway, () => cancel(id));
      expect(second.status).to.equal(200);
      expect(second.body).to.deep.equal(first.body);
    });

    it('cancels once, however many ask at the same time', async () => {
      const id = await create(VIDEO, STUCK);
      await untilStatus(owner.session, id, 'in_progress');
      const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(id)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
      const events = await eventsOf(id);
      expect(events.filter((event) => event.startsWith('cancel'))).to.deep.equal([
        'cancel_requested 1',
        'cancelled 1',
      ]);
      expect((await balance()).reserved).to.equal(0);
    });

    for (const [status, prompt] of [
      ['completed', '[[sandbox seconds=0]]'],
      ['failed', FAILING],
    ] as const)
      it(`refuses a ${status} task with 409, which is not worth repeating`, async () => {
        const id = await ended(IMAGE, prompt);
        const answer = await expectNoEffect(gateway, () => cancel(id));
        expectError(answer, 409, 'task_not_cancellable', null);
        expect(answer.headers.get('x-should-retry')).to.equal('false');
        expect((await owner.session.get(`/api/tasks/${id}`)).body.data.status).to.equal(status);
      });

    it('ends as completed and charged, or as cancelled and free, when the vendor finishes meanwhile', async () => {
      const user = await gateway.createUser(1000);
      const race = async (seconds: number): Promise<number> => {
        const id = await create(VIDEO, `[[sandbox seconds=${seconds}]]`, user);
        await untilStatus(user.session, id, ['in_progress', 'completed']);
        await user.session.delete(`/api/tasks/${id}`);
        const { status, creditsCharged } = await untilFinal(user.session, id);
        expect(creditsCharged).to.equal(status === 'completed' ? 14 : 0);
        return creditsCharged;
      };
      const charges = await Promise.all(Array.from({ length: 12 }, (_, index) => race(index / 20)));
      const charged = charges.reduce((sum, credits) => sum + credits, 0);
      expect(await balance(user)).to.include({ balance: 1000 - charged, reserved: 0, totalCharged: charged });
    });
  });

  describe('POST /api/tasks/:id/retry', () => {
    it('runs the failed task again under the same id and charges the attempt that succeeds', async () => {
      const user = await gateway.createUser(14);
      const id = await ended(VIDEO, 'once more [[sandbox seconds=0 outcome=fail*1]]', user);
      const failed = (await user.session.get(`/api/tasks/${id}`)).body.data;
      expect(failed).to.include({ status: 'failed', attempt: 1, creditsCharged: 0 });
      const { status, body, headers } = await retry(id, user);
      expect(status).to.equal(202);
      expect(body.data).to.deep.include({
        ...{ id, status: 'queued', attempt: 2, progress: 0, creditsEstimate: 14, creditsCharged: 0 },
        ...{ errorCode: null, errorMessage: null, upstreamTaskId: null, startedAt: null, completedAt: null },
        ...{ requestPayload: failed.requestPayload, createdAt: failed.createdAt },
      });
      expect(headers.get('location')).to.equal(`/api/tasks/${id}`);
      const task = await untilFinal(user.session, id);
      expect(task).to.include({ status: 'completed', attempt: 2, creditsCharged: 14 });
      expect(await balance(user)).to.include({ balance: 0, reserved: 0, totalCharged: 14 });
      expect(await countSubmissions(gateway.sandboxUrl, 'once more')).to.equal(2);
    });

    it('tells both attempts in the timeline', async () => {
      const id = await ended(IMAGE, FAILING);
      await retry(id);
      await untilFinal(owner.session, id);
      const story = ['reserved', 'started', 'submitting', 'failed'];
      expect(await eventsOf(id)).to.deep.equal([
        ...['created', ...story].map((event) => `${event} 1`),
        ...['retried', ...story].map((event) => `${event} 2`),
      ]);
    });

    it('starts one attempt, however many ask at the same time', async () => {
      const id = await ended(IMAGE, FAILING);
      const answers = await Promise.all(Array.from({ length: 10 }, () => retry(id)));
      const statuses = answers.map(({ status }) => status).sort((one, other) => one - other);
      expect(statuses).to.deep.equal([202, ...Array(9).fill(409)]);
      expect((await untilFinal(owner.session, id)).attempt).to.equal(2);
    });

    it('refuses every status but failed with 409', async () => {
      const running = await create(VIDEO, STUCK);
      await untilStatus(owner.session, running, 'in_progress');
      const cancelled = await create(IMAGE, STUCK);
      await cancel(cancelled);
      const completed = await ended(IMAGE, '[[sandbox seconds=0]]');
      for (const id of [cancelled, completed]) {
        const answer = await expectNoEffect(gateway, () => retry(id));
        expectError(answer, 409, 'task_not_retryable', null);
        expect(answer.headers.get('x-should-retry')).to.equal('false');
      }
      expectError(await retry(running), 409, 'task_not_retryable', null);
      await cancel(running);
    });

    it('refuses with 409 when the request is no longer kept', async () => {
      const id = await ended(IMAGE, FAILING);
      await gateway.em().execute(sql`update task_request set body = null where task_id = ${id}`);
      expectError(await expectNoEffect(gateway, () => retry(id)), 409, 'task_not_retryable', null);
      expect((await owner.session.get(`/api/tasks/${id}`)).body.data.requestPayload.prompt).to.equal(FAILING);
    });

    it('refuses with 402 when the balance no longer covers it; the task stays as it was', async () => {
      const user = await gateway.createUser(4);
      const id = await ended(IMAGE, FAILING, user);
      const failed = (await user.session.get(`/api/tasks/${id}`)).body;
      await ended(IMAGE, '[[sandbox seconds=0]]', user);
      const answer = await expectNoEffect(gateway, () => retry(id, user));
      expectError(answer, 402, 'insufficient_credits', null);
      expect(answer.body.error).to.include({ required: 4, available: 0 });
      expect((await user.session.get(`/api/tasks/${id}`)).body).to.deep.equal(failed);
    });

    it('refuses with 404 when the model is no longer offered', async () => {
      const id = await ended(IMAGE, FAILING);
      const { catalog } = gateway.services;
      gateway.services.catalog = { ...catalog, models: new Map() };
      const answer = await expectNoEffect(gateway, () => retry(id));
      gateway.services.catalog = catalog;
      expectError(answer, 404, 'model_not_found', 'model');
    });
  });
});
