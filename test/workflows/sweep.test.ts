// The sweeper's schedule: one run at a time, from the first minute on.
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { expect } from 'chai';
import { SWEEPER_STEPS } from '../../activities/index.ts';
import { readHistoryOf } from '../support/servers/engine.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { until } from '../support/until.ts';
import { SWEEP_SCHEDULE_ID } from '../../workflows/names.ts';

describe('the schedule of the sweeper', () => {
  const system = startTestSystem();

  it('a new system has one sweeper at once, and the minutes after it bring no second', async () => {
    await system.gateway.services.taskWorkflows.ensureSweepSchedule();
    const schedule = system.engine.client.schedule.getHandle(SWEEP_SCHEDULE_ID);
    const readRunning = async () => (await schedule.describe()).info;
    await until('the first run is known to run', async () => {
      const { runningActions } = await readRunning();
      return runningActions.length === 1;
    });
    await schedule.trigger(ScheduleOverlapPolicy.SKIP); // as each minute does
    await until('the second start was skipped', async () => {
      const { numActionsSkippedOverlap } = await readRunning();
      return numActionsSkippedOverlap > 0;
    });
    const { runningActions, numActionsTaken } = await readRunning();
    expect(runningActions).to.have.length(1);
    expect(numActionsTaken).to.equal(1);
  });

  it('each of its steps, lost with its worker, is missed within seconds', async () => {
    const { info } = await system.engine.client.schedule.getHandle(SWEEP_SCHEDULE_ID).describe();
    const [{ workflow } = { workflow: null }] = info.recentActions.map(({ action }) => action);
    const run = system.engine.client.workflow.getHandle(workflow?.workflowId ?? '');
    const timeouts = await until('a round has had all of its steps', async () => {
      const { events } = await readHistoryOf(run);
      const scheduled = events.flatMap(({ activityTaskScheduledEventAttributes: each }) =>
        each ? [each] : [],
      );
      const byStep = new Map(
        (scheduled as { activityType: { name: string }; heartbeatTimeout: string }[]).map(
          ({ activityType, heartbeatTimeout }) => [activityType.name, heartbeatTimeout],
        ),
      );
      return byStep.size >= SWEEPER_STEPS.length && byStep;
    });
    expect([...timeouts.keys()]).to.have.members([...SWEEPER_STEPS]);
    for (const [step, heartbeatTimeout] of timeouts) expect(heartbeatTimeout, step).to.equal('15s');
  });
});
