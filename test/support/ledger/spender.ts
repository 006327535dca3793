// A user with credits and a key, straight in the database.
import { randomBytes } from 'node:crypto';
import type { Em } from '../../../db/database.ts';
import { createUser } from '../../../db/identity/users.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { grantOnce } from '../credits.ts';
import { Secrets } from '../../../db/secrets.ts';
import { parseCredits } from '../../../domain/credits.ts';

export interface Spender {
  userId: string;
  keyId: string;
}

const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);

/** `limits`: those of the key. */
export async function createSpender(em: Em, credits: number, limits: object = {}): Promise<Spender> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const userId = await createUser(em, { email, password: 'correct horse battery', permissions: [] });
  if (!userId) throw new Error('the user was not created');
  const amount = parseCredits(credits);
  await grantOnce(em, { userId, amount, idempotencyKey: `test:${userId}`, description: 'Test credits' });
  return { userId, keyId: await addKey(em, userId, limits) };
}

/** Adds a key to an account; answers its id. */
export async function addKey(em: Em, userId: string, limits: object = {}): Promise<string> {
  const { id } = await createApiKey(em, secrets, { userId, name: 'Test', ...limits });
  return id;
}
