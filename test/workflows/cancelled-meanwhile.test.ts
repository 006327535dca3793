// A cancellation that comes with the very event that would break the story off: the caller's word stands.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { sendJson, startStandIn, type StandIn } from '../providers/stand-in.ts';
import { createCleanup } from '../support/cleanup.ts';
import { openEngine, readHistory, type TestEngine } from '../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { orderVideo, readAvailable, untilPolled, VIDEO_CREDITS } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const CANCELLED = { status: 'cancelled', errorCode: 'task_cancelled', creditsCharged: 0 };

async function hasEvent(engine: TestEngine, taskId: string, type: string): Promise<boolean> {
  const { events } = await readHistory(engine, taskId);
  return events.some(({ eventType }) => eventType === `EVENT_TYPE_${type}`);
}

describe('a task whose cancellation arrives before its run has heard that the deadline has passed', () => {
  const system = startTestSystem({ env: { SVC_TASK_DEADLINE_SECONDS: '3' } });

  it('is cancelled, not failed as upstream_timeout', async () => {
    const { gateway, engine, owner } = system;
    const task = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, task);
    await gateway.stopWorker();
    await until('the deadline has passed', () => hasEvent(engine, task.id, 'ACTIVITY_TASK_TIMED_OUT'));
    expect((await owner.session.delete(`/api/tasks/${task.id}`)).status).to.equal(202);
    await gateway.startWorker();
    expect(await untilFinal(owner.session, task.id)).to.include(CANCELLED);
    expect(await engine.untilClosed(task.id)).to.equal('CANCELLED');
    expect(await readAvailable(owner)).to.include({ balance: 1_000, reserved: 0 });
  });
});

describe('a task whose cancellation comes with the answer that no slot is free, when it may wait no longer', () => {
  const LOOK = /await (\w+\.begin\(task\))\);\n/;
  const IS_LATE = /(Date\.now\(\) \+ neededMs > )/;
  const system = startTestSystem({
    env: { SVC_RUNNING_TASKS_PER_USER: '1' },
    changeWorkflows: (code) => {
      expect(code).to.match(LOOK);
      expect(code).to.match(IS_LATE);
      // What Temporal's SDK does with a request of the same activation: before the workflow goes on.
      const cancels = 'globalThis.isLate = true; globalThis.__TEMPORAL_ACTIVATOR__.cancelWorkflow({});';
      const look = `await $1.then((found) => { if (found.status === "queued") { ${cancels} } return found; }));\n`;
      return code.replace(LOOK, look).replace(IS_LATE, 'globalThis.isLate || $1');
    },
  });

  it('is cancelled, not failed as queue_full', async () => {
    const { gateway, engine, owner } = system;
    const running = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, running);
    const waiting = await orderVideo(owner.session);
    expect(await untilFinal(owner.session, waiting.id)).to.include(CANCELLED);
    expect(await engine.untilClosed(waiting.id)).to.equal('CANCELLED');
    expect(await readAvailable(owner)).to.include({ reserved: VIDEO_CREDITS });
    await owner.session.delete(`/api/tasks/${running.id}`);
  });
});

describe('a task that is cancelled while its vendor refuses it for now', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let engine: TestEngine;
  let owner: TestUser;
  let vendor: StandIn;
  let asked: ServerResponse | undefined;

  before(async () => {
    vendor = await startStandIn((res) => (asked = res));
    cleanup.later(() => vendor.close());
    gateway = await startGateway({ env: { GROK_BASE_URL: vendor.url } });
    cleanup.later(() => gateway.stop());
    engine = await openEngine(gateway);
    cleanup.later(() => engine.close());
    owner = await gateway.createUser(1_000);
  });
  after(() => cleanup.run());

  it('is cancelled, not failed as upstream_rate_limited', async () => {
    const task = await orderVideo(owner.session);
    const refuse = await until('the vendor is asked', () => Promise.resolve(asked));
    expect((await owner.session.delete(`/api/tasks/${task.id}`)).status).to.equal(202);
    await until('the run is asked to stop', () =>
      hasEvent(engine, task.id, 'WORKFLOW_EXECUTION_CANCEL_REQUESTED'),
    );
    sendJson(refuse, 429, { error: 'Slow down.' });
    expect(await untilFinal(owner.session, task.id)).to.include(CANCELLED);
    expect(await engine.untilClosed(task.id)).to.equal('CANCELLED');
    expect(vendor.received).to.have.length(1);
    await gateway.expectSoundMoney();
  });
});
