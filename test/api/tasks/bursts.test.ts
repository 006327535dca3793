// Hundreds of creations of one user at once: exactly what the credits cover is admitted, and other users go
// on.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { findFreePort } from '../../../dev/servers/ports.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { createActor, type Actor, type Answer } from '../../support/http/http.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sweepNow } from '../../support/servers/engine.ts';
import { startApiProcess, untilSessionsEnd, type ApiProcess } from '../../support/servers/process.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { IMAGE_CREDITS, IMAGE_MODEL, readAvailable } from '../../support/tasks.ts';
import { until, untilFinal } from '../../support/until.ts';

const IMAGES = '/v1/images/generations';
const ORDER = { model: IMAGE_MODEL, prompt: 'one of many [[sandbox seconds=0]]' };
/** Images that the credits of the poor user cover. */
const AFFORDABLE = 7;

const burst = (actors: readonly Actor[], size: number): Promise<Answer[]> =>
  Promise.all(Array.from({ length: size }, (_, each) => postTo(actors, each)));

function postTo(actors: readonly Actor[], each: number): Promise<Answer> {
  const actor = actors[each % actors.length];
  if (!actor) throw new Error('a burst needs an actor');
  return actor.post(IMAGES, ORDER);
}

/** The user, with the API key at another process. */
const keyAt = (baseUrl: string, { apiKey }: TestUser): Actor =>
  createActor(
    () => baseUrl,
    () => ({ authorization: `Bearer ${apiKey}` }),
  );

const createPoorUser = (gateway: TestGateway) => gateway.createUser(AFFORDABLE * IMAGE_CREDITS);

/** Judges a burst, and returns the ids of the tasks that were admitted. */
function expectSevenAdmitted(answers: readonly Answer[]): string[] {
  const admitted = answers.filter(({ status }) => status === 202);
  expect(admitted).to.have.length(AFFORDABLE);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    expectError(answer, 402, 'insufficient_credits', null);
    expect(answer.body.error).to.include({ required: IMAGE_CREDITS, available: 0 });
  }
  return admitted.map(({ body }) => body.id);
}

async function expectNothingSetAside(gateway: TestGateway, { id }: TestUser): Promise<void> {
  const [account] = await gateway.em().execute<object[]>(sql`
    select reserved::int, earmarked::int, queued, running from account where user_id = ${id}`);
  expect(account).to.deep.equal({ reserved: 0, earmarked: 0, queued: 0, running: 0 });
}

describe('a burst of creations', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  /** Another API process beside the gateway's own. */
  let api: ApiProcess;

  before(async () => {
    gateway = await startGateway();
    cleanup.later(() => gateway.stop());
    api = await startApiProcess(gateway.env);
    cleanup.later(() => api.process.kill());
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  for (const size of [50, 200])
    it(`of ${size} with credits for ${AFFORDABLE} admits ${AFFORDABLE}, and another user’s requests go on`, async () => {
      const poor = await createPoorUser(gateway);
      const neighbour = await gateway.createUser();
      const answers = burst([poor.key], size);
      const beside = await Promise.all([neighbour.key.get('/v1/balance'), neighbour.key.post(IMAGES, ORDER)]);
      expect(beside.map(({ status }) => status)).to.deep.equal([200, 202]);
      for (const id of expectSevenAdmitted(await answers))
        expect(await untilFinal(poor.session, id)).to.include({ status: 'completed' });
      expect(await readAvailable(poor)).to.include({ balance: 0, reserved: 0 });
      await expectNothingSetAside(gateway, poor);
    });

  it('at two API processes admits what the credits cover, and no more', async () => {
    const poor = await createPoorUser(gateway);
    const actors = [poor.key, keyAt(api.baseUrl, poor)];
    for (const id of expectSevenAdmitted(await burst(actors, 100)))
      expect(await untilFinal(poor.session, id)).to.include({ status: 'completed' });
    await expectNothingSetAside(gateway, poor);
  });

  it('whose API is killed loses nothing that was answered 202, and the sums add up', async () => {
    const user = await gateway.createUser(1_000);
    const actor = keyAt(api.baseUrl, user);
    const accepted: string[] = [];
    const all = Promise.allSettled(
      Array.from({ length: 60 }, async () => {
        const { status, body } = await actor.post(IMAGES, ORDER);
        if (status === 202) accepted.push(body.id);
      }),
    );
    await until('some were accepted', async () => accepted.length >= 5);
    await api.process.kill();
    await all;
    await untilSessionsEnd(gateway.em(), api.process);
    const written = await gateway.em().execute<{ id: string }[]>(sql`
      select id from task where user_id = ${user.id}`);
    expect(written.map(({ id }) => id)).to.include.members(accepted);
    await sweepNow(gateway);
    for (const { id } of written)
      expect(await untilFinal(user.session, id)).to.include({ status: 'completed' });
    expect(await readAvailable(user)).to.include({
      balance: 1_000 - written.length * IMAGE_CREDITS,
      reserved: 0,
    });
    await expectNothingSetAside(gateway, user);
  });
});

describe('a burst of creations without Temporal', () => {
  let gateway: TestGateway;

  before(async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    gateway = await startGateway({ worker: false, env: { TEMPORAL_ADDRESS: address } });
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it('admits exactly what the credits cover, and sets nothing aside for what is then cancelled', async () => {
    const poor = await createPoorUser(gateway);
    const ids = expectSevenAdmitted(await burst([poor.key], 200));
    expect(await readAvailable(poor)).to.include({ balance: 28, reserved: 28, available: 0 });
    const cancelled = await Promise.all(ids.map((id) => poor.session.delete(`/api/tasks/${id}`)));
    expect(cancelled.map(({ status }) => status)).to.deep.equal(ids.map(() => 200));
    await expectNothingSetAside(gateway, poor);
  });
});
