// Users as administrators read them: with their account, and when they were last seen.
import { sql } from '@mikro-orm/postgresql';
import { UserEntity, type User } from '../entities/identity.ts';
import { AccountEntity, type Account } from '../entities/ledger.ts';
import type { Em } from '../database.ts';
import { normaliseEmail } from './users.ts';

export interface UserRecord {
  id: string;
  user: User;
  account: Account;
  /** The last request with a session that still lives, use of a key, or login; to the minute. */
  lastSeenAt: Date | null;
}

/**
 * Newest first, older than `beforeId` if given, at most `limit`; `email` finds the one user who has it, `q`
 * those whose e-mail address begins so.
 */
export async function listUserRecords(
  em: Em,
  page: { limit: number; beforeId: string | null; email: string | null; q: string | null },
): Promise<UserRecord[]> {
  const conditions = [
    ...(page.beforeId === null ? [] : [{ id: { $lt: page.beforeId } }]),
    ...(page.email === null ? [] : [{ email: normaliseEmail(page.email) }]),
    ...(page.q === null ? [] : [{ email: { $like: beginningWith(normaliseEmail(page.q)) } }]),
  ];
  const order = { orderBy: { id: 'desc' as const }, limit: page.limit };
  return readRecords(em, await em.find(UserEntity, { $and: conditions }, order));
}

/** Reads a user as administrators see it; null when there is none. */
export async function findUserRecord(em: Em, id: string): Promise<UserRecord | null> {
  const users = await em.find(UserEntity, { id }, { refresh: true });
  const [record] = await readRecords(em, users);
  return record ?? null;
}

async function readRecords(em: Em, users: readonly User[]): Promise<UserRecord[]> {
  if (users.length === 0) return [];
  const ids = users.map(({ id }) => id);
  const accounts = await em.find(AccountEntity, { userId: { $in: ids } }, { refresh: true });
  const accountOf = new Map(accounts.map((account) => [account.userId, account]));
  const seen = await em.execute<{ id: string; lastSeenAt: string | null }[]>(sql`
    select u.id, greatest(
      (select max(s.last_seen_at) from session s where s.user_id = u.id),
      (select max(k.last_used_at) from api_key k where k.user_id = u.id),
      (select e.created_at from audit_entry e where e.user_id = u.id and e.action = 'LOG_IN' order by e.id desc limit 1)
    ) as "lastSeenAt"
    from app_user u where u.id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`);
  const seenAt = new Map(seen.map(({ id, lastSeenAt }) => [id, lastSeenAt]));
  return users.map((user) => {
    const account = accountOf.get(user.id);
    if (!account) throw new Error(`user ${user.id} has no account`);
    const lastSeenAt = seenAt.get(user.id);
    return { id: user.id, user, account, lastSeenAt: lastSeenAt ? new Date(lastSeenAt) : null };
  });
}

/** The pattern of texts that begin like this one, whatever it holds. */
function beginningWith(text: string): string {
  return `${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
