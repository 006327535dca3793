// The workflow of the floor: five empty activities.
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from './activities.ts';

const ACTIVITIES = 5;
const { nothing } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' });

export async function bare(): Promise<void> {
  for (let done = 0; done < ACTIVITIES; done += 1) await nothing();
}
