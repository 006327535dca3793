// Rows for tests of the database alone: users with credits, and queued tasks, without API and Temporal.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Em } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { makeId } from '../../db/ids.ts';
import { grant } from '../../db/ledger/ledger.ts';
import { createTask, type NewTask } from '../../db/tasks/new-tasks.ts';
import { beginTask } from '../../db/tasks/tasks.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { orderOf } from './orders.ts';

/** Answers the id of a new user whose account holds `credits`, in micro-credits. */
export async function createOwner(em: Em, credits: bigint): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const userId = (await createUser(em, { email, password: 'long enough', permissions: [] })) ?? '';
  const move = { userId, amount: credits, idempotencyKey: `grant:${userId}`, description: 'Test' };
  if (credits > 0n) await grant(em, move);
  return userId;
}

/** A new task whose estimate is `credits`, for `createTask`. */
export function newTask(userId: string, credits: bigint): NewTask {
  return {
    id: makeId('task'),
    userId,
    keyId: null,
    mode: 'image',
    model: 'm',
    family: 'f',
    adapter: 'a',
    upstreamModel: 'u',
    ordered: orderOf({ mode: 'image', images: 1 }),
    price: { billingMode: 'per_task', lines: [] },
    creditsEstimate: credits,
    requestPayload: {},
    sealed: { secretKeyId: 'k', prompt: Buffer.from('x'), body: Buffer.from('x') },
  };
}

/** A queued task whose estimate is `credits`. The owner's credits must cover it. */
export async function queueTask(em: Em, userId: string, credits: bigint): Promise<TaskAttempt> {
  const task = newTask(userId, credits);
  expect(await createTask(em, task, 1_000_000)).to.include({ id: task.id });
  return { taskId: task.id, attempt: 1 };
}

/** Makes a reserved task in progress. */
export async function begin(em: Em, task: TaskAttempt): Promise<void> {
  expect(await beginTask(em, task, 1_000_000)).to.deep.equal({ kind: 'status', status: 'in_progress' });
}
