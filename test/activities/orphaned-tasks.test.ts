// Rounds of the sweeper in which runs of tasks are gone, with more open tasks than it looks at one by one.
import { expect } from 'chai';
import { createActivities } from '../../activities/index.ts';
import { reserve } from '../../db/ledger/reservations.ts';
import { cancelTask } from '../../db/tasks/settlement.ts';
import { findTask } from '../../db/tasks/tasks.ts';
import type { TaskRuns } from '../../domain/task-runs.ts';
import * as rows from '../support/rows.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { ageOpenTasks } from '../support/servers/engine.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';

describe('a round of the sweeper over running tasks', () => {
  let gateway: TestGateway;
  const open: string[] = [];

  before(async () => {
    gateway = await startGateway({ worker: false });
    const userId = await rows.createOwner(gateway.em(), 1_000n);
    for (let count = 0; count < 250; count += 1) {
      const task = await rows.queueTask(gateway.em(), userId, 1n);
      await reserve(gateway.em(), task);
      await rows.begin(gateway.em(), task);
      open.push(task.taskId);
    }
  });
  after(() => gateway.stop());

  it('fails the one task whose run was terminated, though it changed after more than a round describes', async () => {
    const [terminated = ''] = open.splice(-1);
    const described = await sweepWith({ gone: [terminated] });
    expect((await findTask(gateway.em(), terminated))?.status).to.equal('failed');
    expect(described.length, 'other runs are described in their turn').to.be.lessThan(open.length);
  });

  it('fails none when the list of running runs names none of them yet', async () => {
    await sweepWith({ gone: [], listRunning: async () => [] });
    await expectAllOpen();
  });

  it('describes the longest unseen when there is no such list, and operators are told', async () => {
    const described = await sweepWith({ gone: [], listRunning: () => Promise.reject(new Error('no list')) });
    expect(described).to.not.deep.equal([]);
    expect(gateway.logged()).to.contain('Temporal did not list its runs');
    await expectAllOpen();
  });

  it('tells operators of no credits given back for a task that ended while it asked about its run', async () => {
    const [ended = ''] = open.splice(-1);
    const describeTask: TaskRuns['describeTask'] = async ({ id }) => {
      if (id !== ended) return 'running';
      await cancelTask(gateway.em(), { taskId: ended, attempt: 1 });
      return 'closed';
    };
    await sweepWith({ gone: [ended], describeTask });
    expect((await findTask(gateway.em(), ended))?.status).to.equal('cancelled');
    expect(gateway.logged()).not.to.match(new RegExp(`${ended}.*the credits are given back`));
  });

  it('fails all of them in one round when all of their runs are gone', async () => {
    await sweepWith({ gone: open });
    for (const id of open) expect((await findTask(gateway.em(), id))?.status).to.equal('failed');
  });

  /** Sweeps with a Temporal in which these runs are gone, and answers which it was asked about one by one. */
  async function sweepWith({ gone, ...played }: { gone: string[] } & Partial<TaskRuns>): Promise<string[]> {
    await ageOpenTasks(gateway);
    const dependencies = dependenciesOf(gateway.config, gateway.services);
    const described: string[] = [];
    const taskRuns: TaskRuns = {
      ...dependencies.taskRuns,
      describeTask: async ({ id }) => {
        described.push(id);
        return gone.includes(id) ? 'closed' : 'running';
      },
      listRunning: async () => open.filter((id) => !gone.includes(id)),
      ...played,
    };
    await createActivities({ ...dependencies, taskRuns }).sweepTasks();
    return described;
  }

  async function expectAllOpen(): Promise<void> {
    for (const id of open) expect((await findTask(gateway.em(), id))?.status).to.equal('in_progress');
  }
});
