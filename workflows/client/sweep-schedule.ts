// The schedule that keeps one run of the sweeper going.
import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';
import { GENERATION_QUEUE, SWEEP_SCHEDULE_ID } from '../names.ts';

/** A run lasts an hour and skips later starts; when one was lost, the next minute brings another. */
const SWEEP_SCHEDULE: Pick<ScheduleOptions, 'spec' | 'policies' | 'action'> & {
  action: { workflowId: string };
} = {
  spec: { intervals: [{ every: '1m' }] },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
  action: {
    type: 'startWorkflow',
    workflowType: 'sweep',
    workflowId: SWEEP_SCHEDULE_ID,
    taskQueue: GENERATION_QUEUE,
    args: [],
    workflowExecutionTimeout: '2h',
  },
};

/** Creates the schedule and starts the first run, or updates the schedule that is there. Safe to repeat. */
export async function ensureSweepSchedule(client: Client): Promise<void> {
  try {
    const schedule = await client.schedule.create({ scheduleId: SWEEP_SCHEDULE_ID, ...SWEEP_SCHEDULE });
    // Asked for in the creation itself, a start would not count as running: the next minute would bring a
    // second one.
    await schedule.trigger(ScheduleOverlapPolicy.SKIP);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(SWEEP_SCHEDULE_ID)
      .update((current) => ({ ...current, ...SWEEP_SCHEDULE }));
  }
}
