// The workflow of the floor: five empty activities, and an update that answers at once.
import { defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import type * as activities from './activities.ts';

const ACTIVITIES = 5;
const { nothing } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' });

export const admit = defineUpdate<number>('admit');

export async function bare(): Promise<void> {
  setHandler(admit, () => ACTIVITIES);
  for (let done = 0; done < ACTIVITIES; done += 1) await nothing();
}
