// A worker is killed in every phase of a task; a new one brings every task to its end, charged at most once.
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  orderImage,
  orderVideo,
  untilPolled,
  untilSubmitted,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const RECOVERY_LIMIT_MS = 60_000;

describe('a worker that is killed', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let worker: TestProcess;
  const cleanup = createCleanup();
  const tasks: Record<'stored' | 'polled' | 'painted' | 'hanging', OrderedTask[]> = {
    stored: [],
    polled: [],
    painted: [],
    hanging: [],
  };
  const charging: OrderedTask[] = [];
  const disturbed: OrderedTask[] = [];

  before(async () => {
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser(10_000);
    worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    await killInEveryPhase();
    await killWhileCharging();
    await killAtRandomMoments(3);
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  it('while handing over: the task fails as unknown, is not charged and not submitted again', async () => {
    for (const task of [...tasks.painted, ...tasks.hanging]) {
      const { errorCode } = await ended(task);
      expect(errorCode).to.equal('upstream_outcome_unknown'); // the vendor's answer reached no process
    }
  });

  it('while waiting for the vendor: the task completes, with one charge and one submission', async () => {
    for (const task of tasks.polled) expect(await ended(task)).to.include({ status: 'completed' });
  });

  it('while copying the result: the task completes, with one charge and one submission', async () => {
    for (const task of tasks.stored) expect(await ended(task)).to.include({ status: 'completed' });
  });

  it('at the moment of charging: the charge happens once', async () => {
    for (const task of charging) await ended(task);
  });

  it('at random moments, again and again: every task ends, charged and submitted at most once', async () => {
    for (const task of disturbed) await ended(task);
  });

  async function ended(task: OrderedTask) {
    await untilFinal(owner.session, task.id, RECOVERY_LIMIT_MS);
    return expectOneChargeAndSubmission(gateway, owner, task);
  }

  async function restart(): Promise<void> {
    await worker.kill();
    worker = await startWorkerProcess(gateway.env);
  }

  async function killInEveryPhase(): Promise<void> {
    const [stored, polled, painted, hanging] = await Promise.all([
      orderVideo(owner.session, 'seconds=0 result=slow*1'),
      orderVideo(owner.session, 'seconds=12'),
      orderImage(owner.session, 'seconds=20'),
      orderVideo(owner.session, 'submit=hang'),
    ]);
    await Promise.all([
      untilDownloading(stored),
      untilPolled(gateway, polled),
      untilSubmitted(gateway, painted),
      untilSubmitted(gateway, hanging),
    ]);
    await restart();
    tasks.stored.push(stored);
    tasks.polled.push(polled);
    tasks.painted.push(painted);
    tasks.hanging.push(hanging);
  }

  async function killWhileCharging(): Promise<void> {
    charging.push(...(await orderSome(8)));
    await until('a result of these is stored', async () => {
      const rows = await gateway.em().execute<{ id: string }[]>(`
        select t.id from submission s join task t on t.id = s.task_id
        where t.status = 'in_progress' and s.outputs is not null`);
      return rows.some(({ id }) => charging.some((task) => task.id === id));
    });
    await restart();
  }

  async function killAtRandomMoments(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      disturbed.push(...(await orderSome(5)));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_000)); // the moment is the drill
      await restart();
    }
  }

  function orderSome(count: number): Promise<OrderedTask[]> {
    const orders = Array.from({ length: count }, (_, index) =>
      index % 2 === 0 ? orderImage(owner.session, 'seconds=0.2') : orderVideo(owner.session, 'seconds=0'),
    );
    return Promise.all(orders);
  }

  async function untilDownloading({ word }: OrderedTask): Promise<void> {
    await until(`${word} is fetched`, async () => {
      const entries = await readJournal(gateway.sandboxUrl, word);
      return entries.some(({ operation }) => operation === 'download');
    });
  }
});
