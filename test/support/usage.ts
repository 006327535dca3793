// Usage at chosen times, written as the settlements write it, and summaries held against the ledger.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { Em } from '../../db/database.ts';
import { makeId } from '../../db/ids.ts';
import type { Actor } from './http/http.ts';
import { orderOf } from './orders.ts';

interface Sums {
  credits: number;
  tasks: number;
  calls: number;
  failed: number;
  promptTokens: number;
  completionTokens: number;
  images: number;
  seconds: number;
  loss?: number;
}

export interface Summary {
  data: (Sums & { start: string; group: string | null })[];
  total: Sums;
  asOf: string;
}

export interface PastCharge {
  userId: string;
  /** ISO time of the settlement. */
  at: string;
  /** In micro-credits, as the rest. */
  charge: number;
  loss?: number;
  keyId?: string;
  model?: string;
}

/** Adds a chat call of 3 and 2 tokens that was settled then. The owner's credits must cover it. */
export async function addPastCall(em: Em, past: PastCharge): Promise<void> {
  const { userId, at, charge, loss = 0, keyId = 'key_none', model = 'gpt-6-luna' } = past;
  const id = makeId('call', Date.parse(at));
  await em.execute(sql`
    insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved, credits_charged,
      loss, day, lease_until, prompt_tokens, completion_tokens, billing_basis, latency_ms, tried, created_at, settled_at)
    values (${userId}, ${id}, ${keyId}, 'r', ${model}, false, 'completed', ${charge}, ${charge}, ${loss}, ${at}, ${at}, 3, 2,
      'upstream', 1, '[]', ${at}, ${at})`);
  await addTransfer(em, past, { callId: id, taskId: null, keyId, model });
}

/** Adds a video of 4 seconds that was completed then. The owner's credits must cover it. */
export async function addPastVideo(em: Em, past: PastCharge): Promise<void> {
  const { userId, at, charge, loss = 0, keyId = null, model = 'grok-imagine-video' } = past;
  const id = makeId('task', Date.parse(at));
  const ordered = JSON.stringify(orderOf({ mode: 'video', seconds: 4 }));
  await em.execute(sql`
    insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, status, ordered, price,
      credits_estimate, credits_charged, request_payload, created_at, completed_at)
    values (${id}, ${userId}, ${keyId}, 'video', ${model}, 'grok', 'a', 'u', 'completed', ${ordered}, '{}',
      ${charge}, ${charge}, '{}', ${at}, ${at})`);
  await em.execute(sql`
    insert into task_attempt (task_id, attempt, user_id, key_id, amount, state, charged, loss, day, created_at, settled_at)
    values (${id}, 1, ${userId}, ${keyId}, ${charge}, 'charged', ${charge}, ${loss}, ${at}, ${at}, ${at})`);
  await addTransfer(em, past, { callId: null, taskId: id, keyId, model });
}

async function addTransfer(
  em: Em,
  { userId, at, charge, loss = 0 }: PastCharge,
  of: { callId: string | null; taskId: string | null; keyId: string | null; model: string },
): Promise<void> {
  await em.execute(sql`
    update account set balance = balance - ${charge}::bigint, total_charged = total_charged + ${charge}::bigint,
      total_loss = total_loss + ${loss}::bigint, sequence = sequence + 1
    where user_id = ${userId}`);
  await em.execute(sql`update key_spending set used = used + ${charge}::bigint where key_id = ${of.keyId}`);
  await em.execute(sql`
    insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after, task_id,
      attempt, call_id, key_id, model, description, created_at)
    select user_id, sequence, ${makeId('led')}, 'operator:revenue', 'charge', ${-charge}::bigint, balance, ${of.taskId},
      ${of.taskId === null ? null : 1}::integer, ${of.callId}, ${of.keyId}, ${of.model}, 'past', ${at}
    from account where user_id = ${userId}`);
}

/** Charges less refunds in micro-credits, of one user or all, as the ledger has them. */
export async function readLedgerCharges(em: Em, userId: string | null = null): Promise<bigint> {
  const own = userId === null ? sql`` : sql`and account_id = ${userId}`;
  const [row] = await em.execute<{ sum: string }[]>(sql`
    select coalesce(-sum(amount), 0)::text as sum from ledger_transfer where kind in ('charge', 'refund') ${own}`);
  return BigInt(row?.sum ?? '');
}

/** Asks for a summary, which must be given and whose rows must add up to its total. */
export async function summarise(
  session: Actor,
  query: Record<string, string>,
  path = '/api/usage/summary',
): Promise<Summary> {
  const { status, body } = await session.get(`${path}?${new URLSearchParams(query).toString()}`);
  expect(status, JSON.stringify(body)).to.equal(200);
  const summary: Summary = body;
  for (const name of Object.keys(summary.total) as (keyof Sums)[]) {
    const sum = summary.data.reduce((all, row) => all + micro(row[name] ?? 0), 0n);
    expect(sum, name).to.equal(micro(summary.total[name] ?? 0));
  }
  return summary;
}

/** An amount of JSON in its integers. */
export function micro(credits: number): bigint {
  return BigInt(Math.round(credits * 1_000_000));
}
