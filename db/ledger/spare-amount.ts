// How much may be set aside for a text whose price is known only after its answer.
import type { MicroCredits } from '../../domain/credits.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';
import { prepare } from '../prepared.ts';

/** Who pays: an account, and the key of the request if it had one. */
export interface Spender {
  userId: string;
  keyId: string | null;
}

/**
 * Finds the amount between `least` and `most` that `spare-amounts.sql` leaves this spender. In a
 * transaction the counters are locked first, so that the earmark which follows is judged by the same
 * figures; outside of one the amount is an estimate. `least` may be more than there is: whether it is
 * covered, the earmark decides.
 */
export async function findSpareAmount(
  em: Em,
  { userId, keyId }: Spender,
  least: MicroCredits,
  most: MicroCredits,
): Promise<MicroCredits> {
  const [row] = await chooseAmount(em, [userId, keyId, least, most, em.isInTransaction()]);
  if (!row) throw new Error('no amount was chosen');
  return readMicroCredits(row.amount);
}

const chooseAmount = prepare<{ amount: string }>(
  'choose-spare-amount',
  'select spare_amount($1, $2, $3, $4, $5) as amount',
);
