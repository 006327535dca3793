// One round of the sweeper: it finds what a crash left behind. A schedule runs it.
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const sweeper = proxyActivities<Pick<Activities, 'sweepTasks' | 'removeOldRequests'>>({
  startToCloseTimeout: '2m',
  retry: { maximumAttempts: 1 }, // the next round comes soon
});

export async function sweep(): Promise<void> {
  await sweeper.sweepTasks();
  await sweeper.removeOldRequests();
}
