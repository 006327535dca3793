// Rows for tests of the database alone: users with credits, and queued tasks, without API and Temporal.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { Em } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { makeId } from '../../db/ids.ts';
import { grantOnce } from './credits.ts';
import { createTask, type NewTask } from '../../db/tasks/new-tasks.ts';
import { beginTask } from '../../db/tasks/tasks.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { orderOf } from './orders.ts';

/** Answers the id of a new user whose account holds `credits`, in micro-credits. */
export async function createOwner(em: Em, credits: bigint): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const userId = (await createUser(em, { email, password: 'long enough', permissions: [] })) ?? '';
  const move = { userId, amount: credits, idempotencyKey: `grant:${userId}`, description: 'Test' };
  if (credits > 0n) await grantOnce(em, move);
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
    requestId: 'r',
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

/** Calls that one statement adds: it stays far below the time-out of statements. */
const CALLS_PER_STATEMENT = 20_000;

/**
 * Adds chat calls, each charged one micro-credit, with their transfers. The owner's credits must cover
 * them.
 */
export async function addSettledCalls(em: Em, userId: string, count: number): Promise<void> {
  for (let added = 0; added < count; added += CALLS_PER_STATEMENT) {
    const more = Math.min(CALLS_PER_STATEMENT, count - added);
    await em.execute(sql`
      with numbered as materialized (
        select n, a.sequence + n as sequence, a.balance - n as balance,
               'chat_' || lpad((a.sequence + n)::text, 12, '0') as id
        from account a, generate_series(1, ${more}::int) n where a.user_id = ${userId}
      ), calls as (
        insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved,
          credits_charged, day, lease_until, billing_basis, latency_ms, tried, settled_at)
        select ${userId}, id, 'key_none', 'r', 'm', false, 'completed', 1, 1, now(), now(), 'upstream', 1, '[]', now()
        from numbered
      ), transfers as (
        insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after, call_id,
          description)
        select ${userId}, sequence, 'led_' || sequence, 'operator:revenue', 'charge', -1, balance, id, 'chat'
        from numbered
      )
      update account set sequence = sequence + ${more}::int, balance = balance - ${more}::int,
        total_charged = total_charged + ${more}::int
      where user_id = ${userId}`);
  }
}
