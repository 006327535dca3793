// Rounds of the sweeper: with a task that cannot be helped, and with more tasks than it claims at once.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createActivities } from '../../activities/index.ts';
import type { TaskRuns } from '../../domain/task-runs.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { ageOpenTasks } from '../support/servers/engine.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';

describe('a round of the sweeper', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('goes on after a task whose start fails, and ends when several fail in a row', async () => {
    const owner = await gateway.createUser();
    const ids: string[] = [];
    for (let task = 0; task < 4; task += 1) {
      const order = { model: 'gpt-image-2', prompt: 'a cat' };
      ids.push((await owner.key.post('/v1/images/generations', order)).body.id);
    }
    const dependencies = dependenciesOf(gateway.config, gateway.services);
    const sweepWithout = async (unstartable: readonly string[]) => {
      await ageOpenTasks(gateway);
      const { taskRuns } = dependencies;
      const startTask: typeof taskRuns.startTask = async (task) => {
        if (unstartable.includes(task.id)) throw new Error('no start');
        return taskRuns.startTask(task);
      };
      const describeTask: typeof taskRuns.describeTask = async () => 'unknown'; // their starts were lost
      const cancelTask: typeof taskRuns.cancelTask = (task, waitMs) => taskRuns.cancelTask(task, waitMs);
      const played = { ...taskRuns, startTask, describeTask, cancelTask };
      return createActivities({ ...dependencies, taskRuns: played }).sweepTasks();
    };
    expect(await sweepWithout(ids.slice(0, 1))).to.deep.equal({ started: 3, settled: 0 });
    expect(gateway.logged()).to.contain('a task could not be helped');
    const outcome = await sweepWithout(ids).catch((error: unknown) => String(error));
    expect(outcome).to.equal('Error: no start');
  });

  it('starts all tasks whose starts were lost, more than it claims at once', async () => {
    const ids = (await Promise.all([createTasks(150), createTasks(150)])).flat();
    await ageOpenTasks(gateway);
    const dependencies = dependenciesOf(gateway.config, gateway.services);
    const started: string[] = [];
    const taskRuns: typeof dependencies.taskRuns = {
      ...dependencies.taskRuns,
      describeTask: async () => 'unknown',
      startTask: async ({ id }) => {
        started.push(id);
        return true;
      },
    };
    await createActivities({ ...dependencies, taskRuns }).sweepTasks();
    expect(started).to.include.members(ids);
  });

  it('starts lost tasks although a chat call cannot be settled, which operators are told', async () => {
    const [id = ''] = await createTasks(1);
    await ageOpenTasks(gateway);
    const stranger = await gateway.createUser();
    // Nothing is reserved on the account that this call would give back to it.
    await gateway.em().execute(sql`
      insert into chat_call (user_id, id, key_id, request_id, model, stream, credits_reserved, day, lease_until)
      values (${stranger.id}, 'chat_contradictory', 'key_none', 'r', 'm', false, 1, now(), now() - interval '1 minute')`);
    const dependencies = dependenciesOf(gateway.config, gateway.services);
    const started: string[] = [];
    const taskRuns: typeof dependencies.taskRuns = {
      ...dependencies.taskRuns,
      describeTask: async () => 'unknown',
      startTask: async (task) => {
        started.push(task.id);
        return true;
      },
    };
    await createActivities({ ...dependencies, taskRuns }).sweepTasks();
    expect(started).to.include(id);
    expect(gateway.logged()).to.match(/chat_contradictory.*abandoned chat calls contradict their accounts/);
    await gateway.em().execute(sql`delete from chat_call where user_id = ${stranger.id}`);
  });

  it('repeats unconfirmed cancellations in turn, although more stay unconfirmed than a round repeats', async () => {
    const ids = (await Promise.all([createTasks(150), createTasks(150)])).flat();
    await requestCancels(ids);
    const asked: string[] = [];
    const { sweepTasks } = withCancels(async ({ id }) => {
      asked.push(id);
      return 'running';
    });
    await sweepTasks();
    const first = new Set(asked.splice(0));
    expect(first.size).to.be.lessThan(ids.length);
    await sweepTasks();
    expect([...first, ...asked]).to.include.members(ids);
    expect(new Set(asked).size, 'a full page again').to.equal(first.size);
    await confirmCancels();
  });

  it('repeats no more cancellations in a round in which Temporal does not answer three of them', async () => {
    const ids = await createTasks(8);
    await requestCancels(ids);
    const asked: string[] = [];
    const { sweepTasks } = withCancels(async ({ id }) => {
      asked.push(id);
      return 'unreachable';
    });
    const failure = await sweepTasks().catch((error: unknown) => String(error));
    expect(failure).to.equal('Error: Temporal did not answer a cancellation');
    expect(asked).to.have.length(3);
    await sweepTasks().catch(() => null);
    expect(new Set(asked).size, 'others in the next round').to.equal(6);
    await confirmCancels();
  });

  /** Has these been cancelled a minute ago, in rows that changed just now: nothing else of them is due. */
  async function requestCancels(ids: readonly string[]): Promise<void> {
    await gateway.em().execute(sql`
      update task set cancel_requested_at = now() - interval '1 minute', updated_at = now()
      where id in (${ids})`);
  }

  async function confirmCancels(): Promise<void> {
    await gateway.em().execute('update task set cancel_requested_at = null');
  }

  /** The sweeper of a gateway whose Temporal answers cancellations as the test says. */
  function withCancels(cancelTask: TaskRuns['cancelTask']) {
    const dependencies = dependenciesOf(gateway.config, gateway.services);
    const taskRuns = { ...dependencies.taskRuns, cancelTask };
    return createActivities({ ...dependencies, taskRuns });
  }

  /** Creates tasks of a new user. */
  async function createTasks(count: number): Promise<string[]> {
    const { key } = await gateway.createUser();
    const order = { model: 'gpt-image-2', prompt: 'a cat' };
    const create = async (): Promise<string> => (await key.post('/v1/images/generations', order)).body.id;
    return Promise.all(Array.from({ length: count }, create));
  }
});
