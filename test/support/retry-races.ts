// Retries of failed tasks, each at the same moment as the task's cancellation or deletion.
import { expect } from 'chai';
import { failTask } from '../../db/tasks/settlement.ts';
import type { Answer } from './http/http.ts';
import type { TestGateway, TestUser } from './servers/gateway.ts';

const AT_ONCE = 10;
const FAILURE = { code: 'upstream_error', message: 'The provider failed.' } as const;

export interface RetryRaces {
  gateway: TestGateway;
  owner: TestUser;
  /** Orders a task; no worker may run. */
  order: () => Promise<{ id: string }>;
  /** Cancels or deletes the task. */
  remove: (id: string) => Promise<Answer>;
}

/** Answers the id of a new task whose first attempt failed. */
export async function createFailedTask({ gateway, order }: Omit<RetryRaces, 'remove'>): Promise<string> {
  const { id } = await order();
  await failTask(gateway.em(), { taskId: id, attempt: 1 }, FAILURE);
  return id;
}

/** Sends both at once, and expects of each one of the few answers that it may have. */
export async function raceRetry({ owner, remove }: RetryRaces, id: string): Promise<void> {
  const [retried, removed] = await Promise.all([owner.session.post(`/api/tasks/${id}/retry`), remove(id)]);
  expect(retried.status, JSON.stringify(retried.body)).to.be.oneOf([202, 409]);
  expect(removed.status, JSON.stringify(removed.body)).to.be.oneOf([200, 202, 409]);
  if (removed.status === 202)
    expect(removed.body.data.cancelRequestedAt, 'is being cancelled').to.be.a('string');
}

/** Makes so many failed tasks and races for each; answers their ids. */
export async function raceRetries(races: RetryRaces, times: number): Promise<string[]> {
  const raced: string[] = [];
  while (raced.length < times) {
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => createFailedTask(races)));
    await Promise.all(ids.map((id) => raceRetry(races, id)));
    raced.push(...ids);
  }
  return raced;
}
