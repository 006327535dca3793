// A request with an Idempotency-Key is interrupted: after its effect, at its COMMIT, or by a lock.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { findFreePort } from '../../dev/servers/ports.ts';
import { createAdministrator, makeCode } from '../support/administrators.ts';
import { sweepNow } from '../support/servers/engine.ts';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { createActor, type Answer } from '../support/http/http.ts';
import { startApiProcess } from '../support/servers/process.ts';
import { countEffects } from '../support/http/repeatable.ts';
import { IMAGE_CREDITS, IMAGE_MODEL, orderImage } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

const IMAGES = '/v1/images/generations';

describe('a request with an Idempotency-Key that is interrupted', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let starts: TestGateway['services']['taskStarts'];

  before(async () => {
    gateway = await startGateway();
    starts = gateway.services.taskStarts;
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(IMAGE_CREDITS);
  });
  afterEach(async () => {
    gateway.services.taskStarts = starts;
    await gateway.expectSoundMoney();
  });

  const body = { model: IMAGE_MODEL, prompt: 'a cat [[sandbox seconds=0]]' };
  const headers = { 'idempotency-key': 'again' };
  const create = (): Promise<Answer> => owner.key.post(IMAGES, body, headers);
  const isReplay = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true';
  const tasksOf = (userId: string) =>
    gateway
      .em()
      .execute<{ id: string; status: string }[]>(sql`select id, status from task where user_id = ${userId}`);

  /** Lets no answer be kept until the returned function is called. */
  const keepNoAnswer = async (): Promise<() => Promise<void>> => {
    await gateway.em().execute(`
      create function keep_nothing() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger keep_nothing before update on idempotency_key for each row when (new.answer is not null)
        execute function keep_nothing()`);
    return async () => {
      await gateway.em().execute('drop function keep_nothing cascade');
    };
  };

  it('by the death of its process before the start: the repeat gets the same answer, and one task ends', async () => {
    const nowhere = `127.0.0.1:${await findFreePort()}`;
    const api = await startApiProcess({ ...gateway.env, TEMPORAL_ADDRESS: nowhere });
    const caller = createActor(
      () => api.baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
    const told = await caller.post(IMAGES, body, headers);
    await api.process.kill();
    expect(told.status).to.equal(202);
    const repeat = await create();
    expect([repeat.status, repeat.body, isReplay(repeat)]).to.deep.equal([202, told.body, true]);
    expect(repeat.headers.get('location')).to.equal(`/v1/images/tasks/${told.body.id}`);
    await sweepNow(gateway);
    expect(await untilFinal(owner.session, told.body.id)).to.include({ status: 'completed' });
    expect((await create()).body, 'the first answer stands').to.deep.equal(told.body);
    expect(await tasksOf(owner.id)).to.have.length(1);
  });

  it('of a retry, too: the repeat gets its answer, and starts no third attempt', async () => {
    const { id } = await orderImage(owner.session, 'seconds=0 outcome=fail*1');
    await untilFinal(owner.session, id);
    gateway.services.taskStarts = {
      ...starts,
      start: () => {
        throw new Error('the process died here');
      },
    };
    const retry = () => owner.session.post(`/api/tasks/${id}/retry`, undefined, headers);
    expectError(await retry(), 500, 'internal_error');
    gateway.services.taskStarts = starts;
    const told = await retry();
    expect([told.status, told.body.data.id, told.body.data.attempt]).to.deep.equal([202, id, 2]);
    await sweepNow(gateway);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'completed', attempt: 2 });
    expect((await retry()).body).to.deep.equal(told.body);
  });

  it('by a database that does not keep its answer: there is no task either, and the repeat makes it', async () => {
    const keepAgain = await keepNoAnswer();
    expectError(await create(), 500, 'internal_error');
    await keepAgain();
    expect(await tasksOf(owner.id)).to.have.length(0);
    const repeat = await create();
    expect([repeat.status, isReplay(repeat)]).to.deep.equal([202, false]);
  });

  it('by its repeat, which overtakes it: it is told what the repeat was told, not that the code is used up', async () => {
    const chief = await createAdministrator(gateway);
    const { code } = await makeCode(chief);
    const redeem = () => owner.session.post('/api/redeem', { code }, headers);
    const { guesses } = gateway.services;
    const [arrived, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.services.guesses = {
      limit: async (_kind, _attemptedBy, check) => {
        gateway.services.guesses = guesses;
        arrived.resolve();
        await overtaken.promise;
        return check();
      },
    };
    const slow = redeem();
    await arrived.promise;
    const fast = await redeem();
    overtaken.resolve();
    const told = await slow;
    expect([fast.status, isReplay(fast), told.status, isReplay(told)]).to.deep.equal([200, false, 200, true]);
    expect(told.body).to.deep.equal(fast.body);
  });

  it('by a line that breaks at COMMIT: it finds its own row and answers', async () => {
    breakNextCommit();
    const answer = await create();
    expect([answer.status, isReplay(answer)]).to.deep.equal([202, false]);
    expect((await tasksOf(owner.id)).map(({ id }) => id)).to.deep.equal([answer.body.id]);
    expect((await create()).body).to.deep.equal(answer.body);
    await sweepNow(gateway);
    await untilFinal(owner.session, answer.body.id);

    const chief = await createAdministrator(gateway);
    const grant = () =>
      chief.session.post(`/api/admin/users/${owner.id}/grants`, { credits: 3, note: 'Once' }, headers);
    const before = await countEffects(gateway);
    breakNextCommit();
    const granted = await grant();
    expect(granted.status).to.equal(201);
    expect((await grant()).body).to.deep.equal(granted.body);
    const after = await countEffects(gateway);
    expect(after['additions']).to.equal(Number(before['additions']) + 1);
    expect(after['auditEntries']).to.equal(Number(before['auditEntries']) + 1);
  });

  it('by a transaction with its key that does not end: it is told to wait, in time', async () => {
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`
        insert into idempotency_key (id, user_id, method, path, key_hash, fingerprint, leased_until)
        values ('idm_other', ${owner.id}, 'POST', ${IMAGES}, sha256('again'), '', now())`);
      const startedAt = Date.now();
      expectError(await create(), 409, 'idempotency_in_progress');
      expect(Date.now() - startedAt).to.be.below(4_500);
    });
    expect(await tasksOf(owner.id)).to.have.length(0);
  });

  /** Plays a connection that breaks after COMMIT was carried out. */
  function breakNextCommit(): void {
    const { em } = gateway.database;
    const fork = em.fork.bind(em);
    let isBroken = false;
    em.fork = (...args) => {
      const forked = fork(...args);
      const transactional = forked.transactional.bind(forked);
      forked.transactional = async (work, options) => {
        const result = await transactional(work, options);
        if (isBroken) return result;
        isBroken = true;
        em.fork = fork;
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
      };
      return forked;
    };
  }
});
