// Rows for tests of the database alone: users with credits, and queued tasks, without API and Temporal.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { Em } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { makeId } from '../../db/ids.ts';
import { grant } from '../../db/ledger/ledger.ts';
import { createTask } from '../../db/tasks/new-tasks.ts';
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

/** A queued task whose estimate is `credits`; written as if the balance had covered it. */
export async function queueTask(em: Em, userId: string, credits: bigint): Promise<TaskAttempt> {
  const id = makeId('task');
  const task = {
    id,
    userId,
    keyId: null,
    mode: 'image' as const,
    model: 'm',
    family: 'f',
    adapter: 'a',
    upstreamModel: 'u',
    ordered: orderOf({ mode: 'image', images: 1 }),
    price: { billingMode: 'per_task' as const, lines: [] },
    creditsEstimate: 0n,
    requestPayload: {},
    sealed: { secretKeyId: 'k', prompt: Buffer.from('x'), body: Buffer.from('x') },
  };
  expect(await createTask(em, task, 1_000_000)).to.include({ id });
  await em.execute(sql`update task set credits_estimate = ${credits} where id = ${id}`);
  return { taskId: id, attempt: 1 };
}

/** Sets a queued task in progress, without a reservation. */
export async function beginWithoutReservation(em: Em, { taskId }: TaskAttempt): Promise<void> {
  await em.execute(sql`update task set status = 'in_progress' where id = ${taskId}`);
}
