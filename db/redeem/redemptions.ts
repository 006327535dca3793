// Redeeming a code: the claim of one use, the redemption and the grant, in one transaction or not at all.
import { LockMode, sql } from '@mikro-orm/postgresql';
import { BALANCE_MAX, type MicroCredits } from '../../domain/credits.ts';
import { RedeemCodeEntity } from '../entities/redeem-codes.ts';
import { makeId } from '../ids.ts';
import { grant, type LedgerMove } from '../ledger/ledger.ts';
import { normaliseRedeemCode } from './redeem-code-text.ts';
import type { Secrets } from '../secrets.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

export interface Redeemed extends LedgerMove {
  kind: 'redeemed';
  credits: MicroCredits;
  redeemedAt: Date;
}

export type RedeemRefusal =
  | 'redeem_code_not_found'
  | 'redeem_code_disabled'
  | 'redeem_code_expired'
  | 'redeem_code_exhausted'
  | 'redeem_limit_reached'
  | 'balance_limit';

/**
 * Redeems a code, exactly as often as it has uses, whatever runs in parallel: redemptions of one code happen
 * one after the other. A malformed text and an unknown code are refused alike.
 */
export async function redeem(
  em: Em,
  secrets: Secrets,
  input: { userId: string; code: string; requestId: string },
): Promise<Redeemed | { kind: 'refused'; reason: RedeemRefusal }> {
  const code = normaliseRedeemCode(input.code);
  if (code === null) return { kind: 'refused', reason: 'redeem_code_not_found' };
  const hashes = secrets.hashes('redeem-code', code);
  return em.transactional(async (tx) => {
    // The lock is a statement of its own: the next one then sees every redemption made under the lock before,
    // which a count inside the locking statement would not.
    const locked = await tx.findOne(
      RedeemCodeEntity,
      { hash: { $in: hashes } },
      { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!locked) return { kind: 'refused', reason: 'redeem_code_not_found' };
    const claim = await claimUse(tx, locked.id, input.userId);
    if (claim.word !== 'redeemed') return { kind: 'refused', reason: claim.word };
    const id = makeId('rdp');
    const amount = readMicroCredits(claim.credits);
    const move = await grant(tx, {
      userId: input.userId,
      amount,
      kind: 'redeem',
      idempotencyKey: `redeem:${id}`,
      description: 'Redeem code',
      requestId: input.requestId,
    });
    const redeemedAt = await recordRedemption(tx, { id, codeId: locked.id, userId: input.userId, move });
    return { kind: 'redeemed', ...move, credits: amount, redeemedAt };
  });
}

/**
 * Claims one use. `clock_timestamp()`, because the transaction may have waited for the lock since it began.
 * The account is locked before its balance is judged: the same user may redeem another code at this moment.
 */
async function claimUse(
  tx: Em,
  codeId: string,
  userId: string,
): Promise<{ word: RedeemRefusal | 'redeemed'; credits: string }> {
  const [claim] = await tx.execute<{ word: RedeemRefusal | 'redeemed'; credits: string }[]>(sql`
    with verdict as (
      select c.id, c.credits, case
        when c.disabled_at is not null then 'redeem_code_disabled'
        when c.expires_at <= clock_timestamp() then 'redeem_code_expired'
        when c.used_count >= c.max_uses then 'redeem_code_exhausted'
        when c.per_user_limit <= (select count(*) from redemption r where r.code_id = c.id and r.user_id = ${userId})
          then 'redeem_limit_reached'
        when (select balance from account where user_id = ${userId} for update) + c.credits > ${BALANCE_MAX} then 'balance_limit'
        else 'redeemed' end as word
      from redeem_code c where c.id = ${codeId}
    ), claimed as (
      update redeem_code c set used_count = c.used_count + 1
      from verdict v where v.word = 'redeemed' and c.id = v.id and c.used_count < c.max_uses and c.disabled_at is null
    )
    select word, credits from verdict`);
  if (!claim) throw new Error(`the redeem code ${codeId} is locked and not there`);
  return claim;
}

async function recordRedemption(
  tx: Em,
  redemption: { id: string; codeId: string; userId: string; move: LedgerMove },
): Promise<Date> {
  const { id, codeId, userId, move } = redemption;
  const [recorded] = await tx.execute<{ at: string }[]>(sql`
    insert into redemption (id, code_id, user_id, transfer_sequence, credits, created_at)
    select ${id}, ${codeId}, account_id, sequence, amount, clock_timestamp() from ledger_transfer
    where account_id = ${userId} and sequence = ${move.sequence}
    returning created_at as at`);
  if (!recorded) throw new Error('the grant of a redemption left no transfer');
  return new Date(recorded.at);
}
