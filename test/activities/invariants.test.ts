// The scheduled check of the ledger: an account with an edited balance spends nothing until it is unfrozen.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, readAudit } from '../support/administrators.ts';
import { activitiesOf, openEngine } from '../support/servers/engine.ts';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { IMAGE_MODEL, orderImage, orderVideo } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const RULE = 'reserved is the sum of open reservations';

describe('the check of the invariants', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(100);
  });
  afterEach(() => gateway.expectSoundMoney());

  const check = () => activitiesOf(gateway).checkInvariants();
  const order = (user = owner) =>
    user.session.post('/api/tasks', { mode: 'image', model: IMAGE_MODEL, prompt: 'a cat' });
  const setReserved = (microCredits: number) =>
    gateway.em().execute(sql`update account set reserved = ${microCredits} where user_id = ${owner.id}`);
  const alarms = () =>
    gateway
      .logged()
      .split('\n')
      .filter((line) => line.includes('"ledger invariant violated"') && line.includes(owner.id))
      .map((line): Record<string, unknown> => JSON.parse(line));

  it('raises an alarm, stops spending, and lets reads go on, until an administrator unfreezes it', async () => {
    const stranger = await gateway.createUser(100);
    const { id: taskId } = await orderImage(owner.session);
    await untilFinal(owner.session, taskId);
    await setReserved(7);
    expect(await check()).to.include({ violations: 1, frozen: 1 });
    const [alarm] = alarms();
    expect(alarm).to.include({ level: 'error', rule: RULE, subject: owner.id, userId: owner.id });

    expectError(await order(), 403, 'account_disabled');
    const byKey = { model: IMAGE_MODEL, prompt: 'a cat' };
    expectError(await owner.key.post('/v1/images/generations', byKey), 403, 'account_disabled');
    for (const path of ['/api/balance?includeLedger=1', '/api/tasks', `/api/tasks/${taskId}`, '/api/auth/me'])
      expect((await owner.session.get(path)).status, path).to.equal(200);
    expect((await owner.key.get('/v1/balance')).status).to.equal(200);
    expect((await order(stranger)).status).to.equal(202);

    await setReserved(0);
    expect(await check()).to.include({ violations: 0, frozen: 0 });
    expectError(await order(), 403, 'account_disabled'); // a correct balance is not enough: it must be unfrozen
    const chief = await createAdministrator(gateway);
    const lifted = await chief.session.patch(`/api/admin/users/${owner.id}`, { frozen: false });
    expect(lifted.status).to.equal(200);
    const { status, body } = await order();
    expect(status).to.equal(202);
    await untilFinal(owner.session, body.data.id);
    const entries = (await readAudit(gateway, owner.id)).map(({ action, actorId, detail }) => ({
      action,
      actorId,
      detail,
    }));
    expect(entries).to.deep.equal([
      { action: 'FREEZE_ACCOUNT', actorId: null, detail: { rules: [RULE] } },
      { action: 'UNFREEZE_ACCOUNT', actorId: chief.id, detail: {} },
    ]);
  });

  it('repeats the alarm while it lasts, and freezes once', async () => {
    await setReserved(7);
    expect(await check()).to.include({ violations: 1, frozen: 1 });
    expect(await check()).to.include({ violations: 1, frozen: 0 });
    expect(alarms()).to.have.length(2);
    expect(await readAudit(gateway, owner.id)).to.have.length(1);
    await setReserved(0);
  });

  it('stops a task that is queued before its credits are set aside', async () => {
    await gateway.stopWorker();
    const { id } = await orderVideo(owner.session);
    await setReserved(7);
    await check();
    await gateway.startWorker();
    const task = await untilFinal(owner.session, id);
    expect(task).to.include({ status: 'failed', errorCode: 'account_disabled', creditsCharged: 0 });
    await setReserved(0);
  });

  it('finds nothing while tasks run, end and are cancelled and codes are redeemed', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => gateway.createUser(1_000)));
    const chief = await createAdministrator(gateway);
    const { body } = await chief.session.post('/api/admin/redeem-codes', {
      label: 'x',
      credits: 1,
      maxUses: 8,
    });
    const work = users.flatMap((user) => [
      orderImage(user.session).then(({ id }) => untilFinal(user.session, id)),
      orderImage(user.session, 'submit=400').then(({ id }) => untilFinal(user.session, id)),
      orderVideo(user.session, 'seconds=1').then(({ id }) => user.session.delete(`/api/tasks/${id}`)),
      user.session.post('/api/redeem', { code: body.data.code }),
    ]);
    let isWorking = true;
    const done = Promise.all(work).finally(() => (isWorking = false));
    while (isWorking) expect(await check()).to.include({ violations: 0, frozen: 0 });
    await done;
  });

  it('is run by the sweeper', async () => {
    await setReserved(7);
    const engine = await openEngine(gateway);
    try {
      await gateway.services.taskWorkflows.ensureSweepSchedule();
      const frozen = () =>
        gateway.em().execute<object[]>(sql`
        select 1 from account where user_id = ${owner.id} and frozen_at is not null`);
      await until('the account is frozen', async () => (await frozen()).length > 0);
      expect(alarms()).not.to.be.empty;
    } finally {
      await engine.client.schedule.getHandle('sweep').delete();
      await engine.client.workflow
        .getHandle('sweep')
        .terminate()
        .catch(() => undefined);
      await engine.close();
      await setReserved(0);
    }
  });
});
