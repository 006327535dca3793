// The database does not take the intent of a hand-over until its task was cancelled, or its deadline passed.
import { Context } from '@temporalio/activity';
import { expect } from 'chai';
import { driverPoolOf, type DriverPool } from '../../db/pool.ts';
import { findSubmission } from '../../db/tasks/submissions.ts';
import { createCleanup } from '../support/cleanup.ts';
import { countSubmissions } from '../support/servers/sandbox.ts';
import { startTestSystem, type TestSystem } from '../support/servers/test-system.ts';
import { orderImage, orderVideo, readAvailable, readEvents, type OrderedTask } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

type Query = DriverPool['query'];

const CANCELLED = { status: 'cancelled', errorCode: 'task_cancelled', creditsCharged: 0 };
const TIMED_OUT = { status: 'failed', errorCode: 'upstream_timeout', creditsCharged: 0 };

/** Waits, within an activity, until Temporal has told it to stop. */
function untilGivenUp(): Promise<void> {
  const { cancelled } = Context.current();
  return cancelled.catch(() => undefined);
}

/** Plays a database for the statement that writes intents. Answers how often it was asked. */
async function playDatabase(
  { gateway }: TestSystem,
  play: (write: () => ReturnType<Query>) => ReturnType<Query>,
): Promise<{ asked(): number; restore(): void }> {
  const pool = await driverPoolOf(gateway.services.database.em);
  const query: Query = pool.query.bind(pool);
  let asked = 0;
  pool.query = async (statement) => {
    if (!statement.name.startsWith('intend-submission')) return query(statement);
    asked += 1;
    return (await play(() => query(statement))) as never;
  };
  return { asked: () => asked, restore: () => void (pool.query = query) };
}

/** Is away until the activity is told to stop, and back from then on. */
const isAway: Parameters<typeof playDatabase>[1] = async (write) => {
  if (!Context.current().cancellationSignal.aborted) throw new Error('the database is away');
  return write();
};

/** Writes the intent at once, and answers when the activity is told to stop. */
const isSlow: Parameters<typeof playDatabase>[1] = async (write) => {
  const answer = await write();
  await untilGivenUp();
  return answer;
};

describe('a task that is cancelled while its intent cannot be written', () => {
  const system = startTestSystem();
  const cleanup = createCleanup();
  afterEach(() => cleanup.run());

  async function cancelMeanwhile(play: Parameters<typeof playDatabase>[1]): Promise<OrderedTask> {
    const { asked, restore } = await playDatabase(system, play);
    cleanup.later(async () => restore());
    const task = await orderVideo(system.owner.session);
    await until('the intent is to be written', async () => asked() > 0);
    expect((await system.owner.session.delete(`/api/tasks/${task.id}`)).status).to.be.oneOf([200, 202]);
    expect(await untilFinal(system.owner.session, task.id)).to.include(CANCELLED);
    expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(0);
    expect(await readAvailable(system.owner)).to.include({ balance: 1_000, reserved: 0 });
    return task;
  }

  it('is not handed over when the database is back', async () => {
    const task = await cancelMeanwhile(isAway);
    expect(await readEvents(system.owner.session, task.id)).to.not.include('submitting');
  });

  it('is not handed over when the database has written it and answers late', async () => {
    const task = await cancelMeanwhile(isSlow);
    const events = await readEvents(system.owner.session, task.id);
    expect(events.filter((event) => event.startsWith('submit'))).to.deep.equal([
      'submitting',
      'submit_retried',
    ]);
  });

  it('is handed over when only its worker shuts down', async () => {
    const { asked, restore } = await playDatabase(system, isAway);
    cleanup.later(async () => restore());
    const task = await orderImage(system.owner.session);
    await until('the intent is to be written', async () => asked() > 0);
    await system.gateway.stopWorker();
    expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(1);
    await system.gateway.startWorker();
    expect(await untilFinal(system.owner.session, task.id)).to.include({ status: 'completed' });
    expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(1);
  });
});

describe('a task whose deadline passes while its intent is being written', () => {
  const system = startTestSystem({ env: { SVC_TASK_DEADLINE_SECONDS: '3' } });

  it('fails as upstream_timeout, and is not handed over when the database answers at last', async () => {
    const { restore } = await playDatabase(system, isSlow);
    const task = await orderVideo(system.owner.session);
    expect(await untilFinal(system.owner.session, task.id)).to.include(TIMED_OUT);
    const attempt = { taskId: task.id, attempt: 1 };
    const state = await until('the intent is no more', async () => {
      const submission = await findSubmission(system.gateway.em(), attempt);
      return submission?.state !== 'sending' && submission?.state;
    });
    restore();
    expect(state).to.equal('not_received');
    expect(await countSubmissions(system.gateway.sandboxUrl, task.word)).to.equal(0);
  });
});
