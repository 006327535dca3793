// Reservations of task attempts: an earmark becomes one. Their end: db/tasks/settlement.ts.
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { readMicroCredits } from '../columns.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** Why an account and a key may not spend, whatever the amount (`spender-refusal.sql`). */
export type SpenderRefusal = (typeof SPENDER_REFUSALS)[number];
const SPENDER_REFUSALS = [
  'account_disabled',
  'invalid_api_key',
  'expired_api_key',
  'model_not_allowed',
] as const;

/** Why credits could not be set aside (`amount-refusal.sql`). */
export type ReserveRefusal =
  | SpenderRefusal
  | 'key_quota_exceeded'
  | 'daily_budget_exceeded'
  | 'insufficient_credits';

export type ReserveVerdict =
  | { kind: 'reserved'; amount: MicroCredits }
  | { kind: 'refused'; reason: ReserveRefusal }
  /** The task was cancelled, or belongs to a later attempt: there is nothing to do. */
  | { kind: 'not_claimable' };

/**
 * Turns the earmark of a queued task into the reservation of its attempt, if the user and the key may still
 * spend. Safe to repeat: a second call for the same attempt answers what the first one did.
 */
export async function reserve(em: Em, { taskId, attempt }: TaskAttempt): Promise<ReserveVerdict> {
  const [verdict] = await reserveAttempt(em, [taskId, attempt]);
  if (!verdict) return { kind: 'not_claimable' };
  if (verdict.refusal !== null) return { kind: 'refused', reason: verdict.refusal };
  return { kind: 'reserved', amount: readMicroCredits(verdict.amount) };
}

/** Whether the refusal is about the account or its key, and not about an amount. */
export function isAboutSpender(reason: ReserveRefusal): boolean {
  return SPENDER_REFUSALS.some((one) => one === reason);
}

const reserveAttempt = prepare<{ refusal: ReserveRefusal | null; amount: string }>(
  'reserve-attempt',
  'select refusal, amount from reserve_attempt($1, $2)',
);
