// Creates the accounts of a soak: callers with key, session and credits, and one verified administrator.
import { randomBytes } from 'node:crypto';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { COMMAND_LINE } from '../../db/audit-log.ts';
import { grantCredits } from '../../db/identity/user-administration.ts';
import type { Secrets } from '../../db/secrets.ts';
import { createSession } from '../../db/identity/sessions.ts';
import { insertUser } from '../../db/identity/users.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { parseCredits } from '../../domain/credits.ts';
import { forkEm, type Database } from '../../db/database.ts';

export interface Person {
  userId: string;
  key: Record<string, string>;
  session: Record<string, string>;
}

const CREDITS = parseCredits('1000000');

export async function createPeople(
  database: Database,
  secrets: Secrets,
  count: number,
): Promise<{ callers: Person[]; administrator: Person }> {
  const callers: Person[] = [];
  for (let number = 0; number < count; number += 1) callers.push(await createPerson([]));
  const administrator = await createPerson(PERMISSIONS);
  await forkEm(database).execute(
    `update session set verified_at = now(), verify_method = 'password', verified_until = now() + interval '1 day'`,
  );
  return { callers, administrator };

  async function createPerson(permissions: readonly string[]): Promise<Person> {
    const em = forkEm(database);
    const email = `${randomBytes(8).toString('hex')}@example.com`;
    const userId = await insertUser(em, { email, passwordHash: 'none', permissions });
    if (userId === null) throw new Error('a person of the soak could not be created');
    await grantCredits(em, COMMAND_LINE, { userId, credits: CREDITS, note: 'Credits for the soak' });
    const { key } = await createApiKey(em, secrets, { userId, name: 'Soak' });
    const token = await createSession(em, secrets, userId);
    return {
      userId,
      key: { authorization: `Bearer ${key}` },
      session: { cookie: `svc_session=${token}` },
    };
  }
}
