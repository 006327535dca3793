// What bounds a task: its deadline, retries at the vendor, and the slots of its user.
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  readEvents,
  readReservations,
  untilPolled,
  VIDEO_CREDITS,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const DEADLINE_SECONDS = 3;

describe('a task with a deadline', () => {
  const system = startTestSystem({
    env: { SVC_TASK_DEADLINE_SECONDS: String(DEADLINE_SECONDS), SVC_UPSTREAM_TIMEOUT_SECONDS: '1' },
  });

  it('fails as upstream_timeout when the vendor never ends, and is not charged', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    const ended = await untilFinal(system.owner.session, task.id);
    expect(ended).to.include({ status: 'failed', errorCode: 'upstream_timeout', creditsCharged: 0 });
    // The deadline counts from the begin of the run, which lies between creation and start.
    const took = Date.parse(ended.completedAt) - Date.parse(ended.createdAt);
    expect(took).to.be.within(DEADLINE_SECONDS * 1000 - 200, DEADLINE_SECONDS * 1000 + 3_000);
    expect(await system.engine.untilClosed(task.id)).to.equal('FAILED');
    await expectOneChargeAndSubmission(system.gateway, system.owner, task);
  });

  it('is delivered and charged when the vendor turns out to have finished just before it', async () => {
    const task = await orderVideo(system.owner.session, 'seconds=2 poll=500*3');
    const ended = await untilFinal(system.owner.session, task.id);
    expect(ended).to.include({ status: 'completed', creditsCharged: VIDEO_CREDITS });
    await expectOneChargeAndSubmission(system.gateway, system.owner, task);
  });
});

/** It has a deadline that is far away: a busy machine hands nothing over within moments. */
describe('a task whose vendor does not take it', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;
  let vendor: StandIn;

  before(async () => {
    // The second refusal asks for a wait beyond the deadline: no call is under way when that comes.
    vendor = await startStandIn((res) => {
      res.setHeader('retry-after', vendor.received.length > 1 ? '60' : '1');
      sendJson(res, 429, { error: { code: 'rate_limit_exceeded', message: 'Slow down.' } });
    });
    cleanup.later(() => vendor.close());
    const times = { SVC_TASK_DEADLINE_SECONDS: '30', SVC_UPSTREAM_TIMEOUT_SECONDS: '2' };
    gateway = await startGateway({ env: { ...times, OPENAI_BASE_URL: `${vendor.url}/v1` } });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser(1_000);
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  it('fails as rate limited when the vendor stays overloaded until the deadline', async () => {
    const task = await orderImage(owner.session);
    const ended = await untilFinal(owner.session, task.id);
    expect(ended).to.include({ errorCode: 'upstream_rate_limited', creditsCharged: 0 });
    expect(vendor.received).to.have.length(2);
  });

  it('fails as unknown, and is not submitted again, when the vendor does not answer the submission', async () => {
    for (const directive of ['submit=hang', 'submit=reset', 'submit=accept_then_reset']) {
      const task = await orderVideo(owner.session, directive);
      const ended = await untilFinal(owner.session, task.id);
      expect(ended, directive).to.include({ errorCode: 'upstream_outcome_unknown', creditsCharged: 0 });
      const entries = await readJournal(gateway.sandboxUrl, task.word);
      expect(entries, directive).to.have.length(1);
      expect(await readReservations(gateway, task.id)).to.deep.equal([
        { attempt: 1, state: 'released', charged: null },
      ]);
    }
  });
});

describe('a task without haste', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ env: { SVC_RUNNING_TASKS_PER_USER: '2' } });
    owner = await gateway.createUser(1_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it('is handed over again when the vendor surely did not take it, and completes with one accepted job', async () => {
    const task = await orderImage(owner.session, 'seconds=0 submit=429*2');
    expect(await untilFinal(owner.session, task.id)).to.include({ status: 'completed' });
    const answers = (await readJournal(gateway.sandboxUrl, task.word)).map(({ status }) => status);
    expect(answers).to.deep.equal([429, 429, 200]);
    const events = await readEvents(owner.session, task.id);
    expect(events.filter((event) => event === 'submit_retried')).to.have.length(2);
    expect(await readReservations(gateway, task.id)).to.have.length(1);
  });

  it('waits for a slot: never more of a user’s tasks are in progress than allowed, and others do not wait', async () => {
    const stranger = await gateway.createUser(100);
    const tasks = await Promise.all(
      Array.from({ length: 6 }, () => orderVideo(owner.session, 'seconds=0.5')),
    );
    const strangers = await orderVideo(stranger.session, 'seconds=0');
    let runningMost = 0;
    await until('all of them have ended', async () => {
      const [row] = await gateway.em().execute<{ running: number; open: number }[]>(`
          select (count(*) filter (where status = 'in_progress'))::int as running,
                 (count(*) filter (where status in ('queued', 'in_progress')))::int as open
          from task where user_id = '${owner.id}'`);
      runningMost = Math.max(runningMost, row?.running ?? 0);
      return row?.open === 0;
    });
    expect(runningMost).to.equal(2);
    for (const task of tasks) await expectOneChargeAndSubmission(gateway, owner, task);
    const [last] = await gateway.em().execute<{ waited: boolean }[]>(`
      select (select completed_at from task where id = '${strangers.id}') >
             (select max(started_at) from task where user_id = '${owner.id}') as waited`);
    expect(last?.waited).to.equal(false);
  });
});

describe('a vendor whose downloads drip', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    // The downloads end within 20 seconds, and the worker stops after them.
    gateway = await startGateway({
      env: { SVC_RUNNING_TASKS_PER_USER: '40', SVC_WORKER_GRACE_SECONDS: '30' },
    });
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());

  it('holds up no other vendor’s result, no other user’s, no failure and no cancellation', async () => {
    const dripping = await Promise.all(
      Array.from({ length: 32 }, () => orderVideo(owner.session, 'seconds=0 result=slow')),
    );
    await until('all of them are copied', async () => {
      const [row] = await gateway
        .em()
        .execute<{ copied: number }[]>(
          `select count(*)::int as copied from submission where state = 'succeeded'`,
        );
      return row?.copied === dripping.length;
    });
    const stranger = await gateway.createUser(100);
    const [image, video, failing, cancelled] = await Promise.all([
      orderImage(stranger.session, 'seconds=0'),
      orderVideo(stranger.session, 'seconds=0'),
      orderVideo(stranger.session, 'seconds=0 outcome=fail'),
      orderVideo(stranger.session, 'seconds=60'),
    ]);
    expect(await untilFinal(stranger.session, image.id)).to.include({ status: 'completed' });
    expect(await untilFinal(stranger.session, video.id)).to.include({ status: 'completed' });
    expect(await untilFinal(stranger.session, failing.id)).to.include({ status: 'failed' });
    await untilPolled(gateway, cancelled);
    const answer = await stranger.session.delete(`/api/tasks/${cancelled.id}`);
    expect(answer.status, 'ends while the caller waits').to.equal(200);
    const [row] = await gateway
      .em()
      .execute<{ open: number }[]>(
        `select count(*)::int as open from task where user_id = ? and status = 'in_progress'`,
        [owner.id],
      );
    expect(row?.open, 'still dripping').to.equal(dripping.length);
  });
});
