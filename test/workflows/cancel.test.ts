// Cancelling a task at every moment: what the row, the money, the vendor and Temporal show afterwards.
import { expect } from 'chai';
import { readHistory } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import {
  countCharges,
  orderImage,
  orderVideo,
  readAvailable,
  readEvents,
  readReservations,
  untilPolled,
  untilReserved,
  untilSubmitted,
  VIDEO_CREDITS,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../support/until.ts';

const RACES = 50;

describe('DELETE /api/tasks/:id', () => {
  const system = startTestSystem({ env: { SVC_RUNNING_TASKS_PER_USER: '1' } });

  const cancel = ({ id }: OrderedTask) => system.owner.session.delete(`/api/tasks/${id}`);

  async function expectReleased(task: OrderedTask): Promise<void> {
    expect(await readReservations(system.gateway, task.id)).to.deep.equal([
      { attempt: 1, state: 'released', charged: null },
    ]);
    expect(await readAvailable(system.owner)).to.include({ balance: 1_000, reserved: 0 });
  }

  it('before a worker took it: cancelled at once, and its run ends Canceled when a worker comes', async () => {
    await system.gateway.stopWorker();
    const task = await orderVideo(system.owner.session);
    const { status, body } = await cancel(task);
    expect(status).to.equal(200);
    expect(body.data).to.include({ status: 'cancelled', creditsCharged: 0, errorCode: 'task_cancelled' });
    await system.gateway.startWorker();
    expect(await system.engine.untilClosed(task.id)).to.equal('CANCELLED');
    expect(await readReservations(system.gateway, task.id)).to.deep.equal([]);
    expect(await readJournal(system.gateway.sandboxUrl, task.word)).to.deep.equal([]);
  });

  it('while it waits for another task of the same user to end: cancelled, never handed over', async () => {
    const running = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, running);
    const waiting = await orderVideo(system.owner.session);
    await untilReserved(system.owner.session, waiting.id);
    const { status, body } = await cancel(waiting);
    expect(status).to.equal(200);
    expect(body.data).to.include({ status: 'cancelled', creditsCharged: 0 });
    expect(await system.engine.untilClosed(waiting.id)).to.equal('CANCELLED');
    expect(await readJournal(system.gateway.sandboxUrl, waiting.word)).to.deep.equal([]);
    expect(await readAvailable(system.owner)).to.include({ balance: 1_000, reserved: VIDEO_CREDITS });
    expect((await cancel(running)).status).to.equal(200);
  });

  it('while an image is made: the connection to the vendor is closed, and the credits return', async () => {
    const task = await orderImage(system.owner.session, 'seconds=30');
    await untilSubmitted(system.gateway, task);
    const { status, body } = await cancel(task);
    expect(status).to.equal(200);
    expect(body.data).to.include({ status: 'cancelled', creditsCharged: 0 });
    const [submission] = await readJournal(system.gateway.sandboxUrl, task.word);
    expect(submission?.clientClosedAt).to.be.a('string');
    expect(await system.engine.untilClosed(task.id)).to.equal('CANCELLED');
    await expectReleased(task);
  });

  it('while the vendor works on it: cancelled, and nothing is asked any more', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    const { status, body } = await cancel(task);
    expect(status).to.equal(200);
    expect(body.data.status).to.equal('cancelled');
    expect(await system.engine.untilClosed(task.id)).to.equal('CANCELLED');
    await expectReleased(task);
    expect(await readEvents(system.owner.session, task.id)).to.include.members([
      'cancel_requested',
      'cancelled',
    ]);
  });

  it('while the vendor works on it: the vendor is told on a queue where no job is waited for', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    expect((await cancel(task)).status).to.equal(200);
    const { events } = await readHistory(system.engine, task.id);
    const steps = events.flatMap(({ activityTaskScheduledEventAttributes: each }) => (each ? [each] : []));
    const queueOf = (name: string) =>
      (steps as { activityType: { name: string }; taskQueue: { name: string } }[]).find(
        ({ activityType }) => activityType.name === name,
      )?.taskQueue.name;
    expect(queueOf('withdraw')).to.be.a('string');
    expect(queueOf('withdraw')).to.not.equal(queueOf('poll'));
  });

  it('after the vendor finished, but before we knew: delivered and charged, and the answer says so', async () => {
    const task = await orderVideo(system.owner.session, 'seconds=0 poll=500*1');
    await untilPolled(system.gateway, task); // it has looked, and was told nothing
    const { status, body } = await cancel(task);
    expect(status).to.equal(409);
    expect(body.error.code).to.equal('task_not_cancellable');
    const ended = await untilFinal(system.owner.session, task.id);
    expect(ended).to.include({ status: 'completed', creditsCharged: VIDEO_CREDITS });
    expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
  });

  it('while the result is copied: the copy is finished and charged', async () => {
    const task = await orderVideo(system.owner.session, 'seconds=0 result=slow');
    await until('the result is fetched', async () =>
      (await readJournal(system.gateway.sandboxUrl, task.word)).some(
        ({ operation }) => operation === 'download',
      ),
    );
    const { status, body } = await cancel(task);
    expect(status).to.equal(202);
    expect(body.data).to.include({ status: 'in_progress' });
    expect(body.data.cancelRequestedAt).to.be.a('string');
    expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'completed' });
    expect(await system.engine.untilClosed(task.id)).to.equal('COMPLETED');
  });

  it('after the end: 409 when it completed or failed, the same answer again when it was cancelled', async () => {
    const completed = await orderImage(system.owner.session);
    await untilStatus(system.owner.session, completed.id, 'completed');
    const failed = await orderImage(system.owner.session, 'seconds=0 outcome=fail reason=invalid');
    await untilStatus(system.owner.session, failed.id, 'failed');
    const cancelled = await orderVideo(system.owner.session, 'outcome=stuck');
    await cancel(cancelled);
    expect((await cancel(completed)).status).to.equal(409);
    expect((await cancel(failed)).status).to.equal(409);
    const again = await cancel(cancelled);
    expect(again.status).to.equal(200);
    expect(again.body.data.status).to.equal('cancelled');
    expect(await system.engine.untilClosed(failed.id)).to.equal('FAILED');
    expect(await system.engine.untilClosed(completed.id)).to.equal('COMPLETED');
  });

  it('is the same as the cancel button of the Temporal UI', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    await system.engine.handleOf(task.id).cancel();
    const ended = await untilFinal(system.owner.session, task.id);
    expect(ended).to.include({ status: 'cancelled', creditsCharged: 0, errorCode: 'task_cancelled' });
    expect(await system.engine.untilClosed(task.id)).to.equal('CANCELLED');
    await expectReleased(task);
  });

  it('twenty times at once: one release, and everyone hears of the cancelled task', async () => {
    const task = await orderVideo(system.owner.session, 'outcome=stuck');
    await untilPolled(system.gateway, task);
    const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(task)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    await expectReleased(task);
    const events = await readEvents(system.owner.session, task.id);
    expect(events.filter((event) => event === 'cancelled')).to.have.length(1);
    expect(events.filter((event) => event === 'cancel_requested')).to.have.length(1);
  });
});

describe('a cancellation and a completion at the same moment', () => {
  const system = startTestSystem();

  it('end fifty times with one outcome on which row, ledger and Temporal agree', async () => {
    const owner = await system.gateway.createUser(10_000);
    const outcomes = new Set<string>();
    const race = async (index: number): Promise<void> => {
      const isImage = index % 2 === 0;
      const task = isImage
        ? await orderImage(owner.session, 'seconds=1.1')
        : await orderVideo(owner.session, 'seconds=0.6');
      await untilSubmitted(system.gateway, task);
      // From long before the moment at which it finishes to long after it, half of them close around it.
      const away = (index / (RACES - 1)) * 2 - 1;
      await new Promise((resolve) => setTimeout(resolve, (isImage ? 1_100 : 600) + 600 * away ** 3));
      const { status: answered } = await owner.session.delete(`/api/tasks/${task.id}`);
      const ended = await untilFinal(owner.session, task.id);
      outcomes.add(ended.status);
      expect(ended.status).to.be.oneOf(['completed', 'cancelled']);
      if (answered === 200) expect(ended.status).to.equal('cancelled');
      if (answered === 409) expect(ended.status).to.equal('completed');
      expect(await countCharges(system.gateway, task.id)).to.equal(ended.status === 'completed' ? 1 : 0);
      expect(ended.creditsCharged).to.equal(ended.status === 'completed' ? ended.creditsEstimate : 0);
      expect(await system.engine.untilClosed(task.id)).to.equal(ended.status.toUpperCase());
    };
    for (let start = 0; start < RACES; start += 5)
      await Promise.all(Array.from({ length: 5 }, (_, offset) => race(start + offset)));
    expect([...outcomes].sort()).to.deep.equal(['cancelled', 'completed']); // else the race was none
    expect(await readAvailable(owner)).to.include({ reserved: 0 });
  });
});
