// Changes to an account that no caller can make.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';

/**
 * Freezes the account, as the check of the ledger does: what was accepted before may not be reserved any
 * more.
 */
export async function freezeAccount(em: Em, userId: string): Promise<void> {
  await em.execute(sql`update account set frozen_at = now() where user_id = ${userId}`);
}
