// Money under load and under a vendor that misbehaves: no user pays twice, too much, or for nothing.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { cancelTask, completeTask, failTask } from '../../../db/tasks/settlement.ts';
import type { Catalog } from '../../../domain/catalog/catalog.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const IMAGE = { mode: 'image', model: 'gpt-image-2' };
/** An order of 10 credits, for which the vendor usually bills as much. */
const VIDEO = { mode: 'video', model: 'grok-imagine-video', duration: 1, resolution: '480p' };

describe('money', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const balance = async (user: TestUser) => (await user.session.get('/api/balance')).body.data;
  const ended = async (user: TestUser, order: object, directive: string) => {
    const prompt = `[[sandbox seconds=0 ${directive}]]`;
    const { body } = await user.session.post('/api/tasks', { ...order, prompt });
    return untilFinal(user.session, body.data.id);
  };
  const reservationOf = async (taskId: string) => {
    const columns = sql`select state, amount, charged, loss from task_attempt where task_id = ${taskId}`;
    const rows = await gateway.em().execute<Record<string, string>[]>(columns);
    expect(rows).to.have.length(1);
    return rows[0];
  };
  const microCredits = (credits: number): string => String(credits * 1_000_000);

  it('admits exactly as many of 50 simultaneous creations as the balance covers', async () => {
    await ended(await gateway.createUser(4), IMAGE, ''); // the engine is awake
    const user = await gateway.createUser(28);
    const order = { model: 'gpt-image-2', prompt: '[[sandbox seconds=0]] at once' };
    let creating = true;
    const reading = (async () => {
      const seen = [];
      while (creating || seen.length < 50) seen.push(await balance(user));
      return seen;
    })();
    const creations = Array.from({ length: 50 }, () => user.key.post('/v1/images/generations', order));
    const answers = await Promise.all(creations).finally(() => {
      creating = false;
    });

    const refused = answers.filter(({ status }) => status !== 202);
    for (const answer of refused) {
      expectError(answer, 402, 'insufficient_credits', null);
      const { required, available } = answer.body.error;
      expect(required).to.equal(4);
      expect(available).to.be.within(0, 28);
    }
    const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.id);
    expect(accepted).to.have.length(7);
    const tasks = await Promise.all(accepted.map((id) => untilFinal(user.session, id)));
    const admitted = tasks.filter(({ status }) => status === 'completed');
    expect(admitted).to.have.length(7);
    for (const task of admitted) expect(task.creditsCharged).to.equal(4);

    for (const { balance, reserved, available } of await reading) {
      expect(available)
        .to.equal(balance - reserved)
        .and.to.be.at.least(0);
      expect(reserved).to.be.at.least(0);
    }
    expect(await balance(user)).to.include({ balance: 0, reserved: 0, available: 0, totalCharged: 28 });
    const calls = await readJournal(gateway.sandboxUrl, 'at once');
    expect(calls.filter(({ operation }) => operation === 'submit')).to.have.length(7);
    // A refused task is either not written at all, or written as failed.
    const { data } = (await user.session.get('/api/tasks?limit=100')).body;
    for (const task of data.filter(({ status }: { status: string }) => status !== 'completed'))
      expect(task).to.include({ status: 'failed', errorCode: 'insufficient_credits', creditsCharged: 0 });
  });

  const free: [order: { mode: string }, directive: string, errorCode: string][] = [
    [IMAGE, 'outcome=fail', 'upstream_error'],
    [IMAGE, 'submit=400', 'upstream_rejected'],
    [IMAGE, 'submit=accept_then_reset', 'upstream_outcome_unknown'],
    [IMAGE, 'submit=truncated', 'upstream_outcome_unknown'],
    [IMAGE, 'deliver=0', 'upstream_invalid_response'],
    [VIDEO, 'outcome=fail', 'upstream_error'],
    [VIDEO, 'outcome=moderated', 'content_rejected'],
    [VIDEO, 'outcome=expire', 'upstream_error'],
    [VIDEO, 'submit=accept_then_reset', 'upstream_outcome_unknown'],
    [VIDEO, 'submit=no_id', 'upstream_outcome_unknown'],
    [VIDEO, 'result=private', 'result_unavailable'],
  ];
  for (const [order, directive, errorCode] of free)
    it(`charges nothing for ${order.mode} tasks with ${directive}, and sets nothing aside any more`, async () => {
      const user = await gateway.createUser(10);
      const task = await ended(user, order, directive);
      expect(task).to.include({ status: 'failed', errorCode, creditsCharged: 0 });
      expect(await balance(user)).to.include({ balance: 10, reserved: 0, totalCharged: 0 });
      expect(await reservationOf(task.id)).to.include({ state: 'released', charged: null });
    });

  it('charges nothing for a cancelled task', async () => {
    const user = await gateway.createUser(10);
    const { body } = await user.session.post('/api/tasks', { ...VIDEO, prompt: '[[sandbox outcome=stuck]]' });
    await untilStatus(user.session, body.data.id, 'in_progress');
    expect(await balance(user)).to.include({ balance: 10, reserved: 10, available: 0 });
    await user.session.delete(`/api/tasks/${body.data.id}`);
    expect(await balance(user)).to.include({ balance: 10, reserved: 0, totalCharged: 0 });
    expect(await reservationOf(body.data.id)).to.include({ state: 'released' });
  });

  for (const [deliver, credits] of [
    [1, 4],
    [2, 8],
    [4, 16],
    [9, 16],
  ] as const)
    it(`charges ${credits} credits when ${deliver} images come for an order of 4`, async () => {
      const user = await gateway.createUser(16);
      const task = await ended(user, { ...IMAGE, n: 4 }, `deliver=${deliver}`);
      expect(task).to.include({ status: 'completed', creditsEstimate: 16, creditsCharged: credits });
      expect(task.outputs).to.have.length(Math.min(deliver, 4));
      expect(await balance(user)).to.include({ balance: 16 - credits, reserved: 0 });
    });

  it('charges the estimate when the vendor bills three times as much; the rest is the operator’s loss', async () => {
    const user = await gateway.createUser(100);
    const task = await ended(user, VIDEO, 'usage=triple');
    expect(task).to.include({ status: 'completed', creditsEstimate: 10, creditsCharged: 10 });
    expect(await balance(user)).to.include({ balance: 90, reserved: 0 });
    expect(await reservationOf(task.id)).to.include({
      state: 'charged',
      amount: microCredits(10),
      charged: microCredits(10),
      loss: microCredits(20),
    });
  });

  for (const order of [IMAGE, VIDEO])
    for (const usage of ['honest', 'missing', 'zero', 'negative', 'huge', 'text'])
      it(`charges at most the estimate for ${order.mode} tasks when the vendor’s usage is ${usage}`, async () => {
        const user = await gateway.createUser(100);
        const task = await ended(user, order, `usage=${usage}`);
        expect(task.status).to.equal('completed');
        expect(task.creditsCharged).to.be.within(0, task.creditsEstimate);
        expect(await balance(user)).to.include({ balance: 100 - task.creditsCharged, reserved: 0 });
        expect((await reservationOf(task.id))?.['loss']).to.equal('0');
      });

  it('charges once when the vendor says success and later failure', async () => {
    const user = await gateway.createUser(10);
    const task = await ended(user, VIDEO, 'poll=regress');
    expect(task).to.include({ status: 'completed', creditsCharged: 10 });
    expect(await balance(user)).to.include({ balance: 0, reserved: 0, totalCharged: 10 });
  });

  it('keeps the first ending when others follow, at once and in any order', async () => {
    const user = await gateway.createUser(10);
    const { id } = await ended(user, VIDEO, '');
    const before = (await user.session.get(`/api/tasks/${id}`)).body.data;
    const attempt = { taskId: id, attempt: 1 };
    const endings = Array.from({ length: 5 }, () => [
      completeTask(gateway.em(), attempt, { outputs: [], outputText: null, amount: 1n, loss: 0n }),
      failTask(gateway.em(), attempt, { code: 'internal_error', message: 'late' }),
      cancelTask(gateway.em(), attempt),
    ]);
    expect(new Set(await Promise.all(endings.flat()))).to.deep.equal(new Set(['completed']));
    expect((await user.session.get(`/api/tasks/${id}`)).body.data).to.deep.equal(before);
    expect(await balance(user)).to.include({ balance: 0, reserved: 0, totalCharged: 10 });
    const { ledger } = (await user.key.get('/v1/balance?includeLedger=1')).body.data;
    expect(ledger.map(({ type }: { type: string }) => type)).to.deep.equal(['charge', 'grant']);
  });

  describe('when prices change', () => {
    let catalog: Catalog;
    before(() => {
      catalog = gateway.services.catalog;
    });
    afterEach(() => {
      gateway.services.catalog = catalog;
    });

    /** Every price times three, from now on. */
    const raisePrices = (): void => {
      const models = [...catalog.models].map(([id, model]) => {
        const price = model.price.map((line) => ({ ...line, credits: line.credits * 3n }));
        return [id, { ...model, price }] as const;
      });
      gateway.services.catalog = { ...catalog, models: new Map(models) };
    };

    it('a task that was submitted before costs what it was to cost', async () => {
      const user = await gateway.createUser(100);
      const { body } = await user.session.post('/api/tasks', { ...VIDEO, prompt: '[[sandbox seconds=1]]' });
      raisePrices();
      const task = await untilFinal(user.session, body.data.id);
      expect(task).to.include({ status: 'completed', creditsEstimate: 10, creditsCharged: 10 });
      expect(await balance(user)).to.include({ balance: 90 });
      const later = await user.session.post('/api/estimates', { ...VIDEO, prompt: 'a fox' });
      expect(later.body.data.creditsEstimate).to.equal(30);
    });

    it('a retry is estimated, and charged, at the new price', async () => {
      const user = await gateway.createUser(100);
      const { id } = await ended(user, VIDEO, 'outcome=fail*1');
      raisePrices();
      const { status, body } = await user.session.post(`/api/tasks/${id}/retry`);
      expect(status).to.equal(202);
      expect(body.data.creditsEstimate).to.equal(30);
      expect(await untilFinal(user.session, id)).to.include({ status: 'completed', creditsCharged: 30 });
    });

    it('a retry that the balance no longer covers is refused with 402, and the task stays failed', async () => {
      const user = await gateway.createUser(29);
      const { id } = await ended(user, VIDEO, 'outcome=fail');
      raisePrices();
      const answer = await user.session.post(`/api/tasks/${id}/retry`);
      expectError(answer, 402, 'insufficient_credits', null);
      expect(answer.body.error).to.include({ required: 30, available: 29 });
      const { data } = (await user.session.get(`/api/tasks/${id}`)).body;
      expect(data).to.include({ status: 'failed', attempt: 1, creditsEstimate: 10 });
      expect(await balance(user)).to.include({ balance: 29, reserved: 0 });
    });
  });
});
