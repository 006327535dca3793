// A task that waits for a slot for hours goes on in a new run before its history is too long for Temporal.
import { expect } from 'chai';
import { SEARCH_ATTRIBUTES } from '../../workflows/names.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { cancelAfter } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { limitWaitingEvents, limitWaitingSeconds } from '../support/servers/waiting-events.ts';
import {
  expectOneChargeAndSubmission,
  orderVideo,
  readAvailable,
  untilPolled,
  VIDEO_CREDITS,
  VIDEO_MODEL,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

describe('a task that waits for a slot until its history is long', () => {
  const system = startTestSystem({
    env: { SVC_RUNNING_TASKS_PER_USER: '1' },
    changeWorkflows: (code) => limitWaitingEvents(code, 12), // the second look
  });

  let running: OrderedTask;
  let waiting: OrderedTask;

  beforeEach(async () => {
    const { gateway, engine, owner } = system;
    running = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, running);
    waiting = await orderVideo(owner.session);
    await until('it waits in a further run', async () => (await engine.runsOf(waiting.id)).length > 1);
  });

  const cancel = ({ id }: OrderedTask) => system.owner.session.delete(`/api/tasks/${id}`);

  it('goes on in a new run, with its attributes and its one reservation, and completes when it has a slot', async () => {
    const { gateway, engine, owner } = system;
    const { typedSearchAttributes, memo } = await engine.handleOf(waiting.id).describe();
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.taskStatus)).to.equal('queued');
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.model)).to.equal(VIDEO_MODEL);
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.attempt)).to.equal(1);
    expect(memo).to.include({ taskId: waiting.id });
    expect(await readAvailable(owner)).to.include({ reserved: 2 * VIDEO_CREDITS });
    expect((await cancel(running)).status).to.equal(200);
    const ended = await untilFinal(owner.session, waiting.id);
    expect(ended).to.include({ status: 'completed', creditsCharged: VIDEO_CREDITS });
    await expectOneChargeAndSubmission(gateway, owner, waiting);
    expect(await engine.untilClosed(waiting.id)).to.equal('COMPLETED');
  });

  it('is cancelled in the run in which it waits', async () => {
    expect((await cancel(waiting)).body.data).to.include({ status: 'cancelled', creditsCharged: 0 });
    expect(await system.engine.untilClosed(waiting.id)).to.equal('CANCELLED');
    expect(await readAvailable(system.owner)).to.include({ reserved: VIDEO_CREDITS });
    await cancel(running);
  });

  it('is cancelled although it goes on in a new run after it was found and before it is asked to stop', async () => {
    const { gateway, engine, owner } = system;
    const newestRun = async () => (await engine.handleOf(waiting.id).describe()).runId;
    const state = await cancelAfter(gateway, waiting.id, async () => {
      const found = await newestRun();
      await until('it goes on in a new run', async () => (await newestRun()) !== found);
    });
    expect(state).to.equal('closed');
    expect(await engine.untilClosed(waiting.id)).to.equal('CANCELLED');
    expect(await untilFinal(owner.session, waiting.id)).to.include({ status: 'cancelled' });
    await cancel(running);
  });
});

describe('a task whose cancellation comes with the answer that no slot is free, when its history is long', () => {
  const LOOK = /await (\w+\.begin\(task\))\);\n/;
  const system = startTestSystem({
    env: { SVC_RUNNING_TASKS_PER_USER: '1' },
    changeWorkflows: (code) => {
      expect(code).to.match(LOOK);
      // What Temporal's SDK does with a request of the same activation: before the workflow goes on.
      const cancels = 'if (status === "queued") globalThis.__TEMPORAL_ACTIVATOR__.cancelWorkflow({});';
      const look = `await $1.then(({ status }) => { ${cancels} return { status }; }));\n`;
      return limitWaitingEvents(code.replace(LOOK, look), 5); // the first look
    },
  });

  it('is cancelled, and does not go on in a new run, which would not know of it', async () => {
    const { gateway, engine, owner } = system;
    const running = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, running);
    const waiting = await orderVideo(owner.session);
    const ended = await untilFinal(owner.session, waiting.id);
    expect(ended).to.include({ status: 'cancelled', creditsCharged: 0 });
    expect(await engine.untilClosed(waiting.id)).to.equal('CANCELLED');
    expect(await readAvailable(owner)).to.include({ reserved: VIDEO_CREDITS });
    await owner.session.delete(`/api/tasks/${running.id}`);
  });
});

describe('a task that gets no slot until Temporal would soon end its runs', () => {
  const system = startTestSystem({
    env: { SVC_RUNNING_TASKS_PER_USER: '1' },
    changeWorkflows: (code) => limitWaitingSeconds(limitWaitingEvents(code, 12), 5),
  });

  it('fails as queue_full in a further run, is not handed over, and has its credits back', async () => {
    const { gateway, engine, owner } = system;
    const running = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, running);
    const waiting = await orderVideo(owner.session);
    const ended = await untilFinal(owner.session, waiting.id);
    expect(ended).to.include({ status: 'failed', errorCode: 'queue_full', creditsCharged: 0 });
    expect(await engine.untilClosed(waiting.id)).to.equal('FAILED');
    await until('both runs are listed', async () => (await engine.runsOf(waiting.id)).length > 1);
    expect(await readJournal(gateway.sandboxUrl, waiting.word)).to.deep.equal([]);
    expect(await readAvailable(owner)).to.include({ reserved: VIDEO_CREDITS });
    await owner.session.delete(`/api/tasks/${running.id}`);
  });
});

describe('a task that gets its slot when Temporal would soon end its run', () => {
  const system = startTestSystem({ changeWorkflows: (code) => limitWaitingSeconds(code, 0) });

  it('fails as queue_full, is not handed over, and has its credits and its slot back', async () => {
    const { gateway, engine, owner } = system;
    const task = await orderVideo(owner.session);
    const ended = await untilFinal(owner.session, task.id);
    expect(ended).to.include({ status: 'failed', errorCode: 'queue_full', creditsCharged: 0 });
    expect(await engine.untilClosed(task.id)).to.equal('FAILED');
    expect(await readJournal(gateway.sandboxUrl, task.word)).to.deep.equal([]);
    expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
  });
});
