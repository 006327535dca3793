// Users: who may log in, and with which permissions.
import { sql } from '@mikro-orm/postgresql';
import { UserEntity, type User } from '../entities/identity.ts';
import { makeId } from '../ids.ts';
import { hashPassword } from './passwords.ts';
import type { Em } from '../database.ts';

export const EMAIL_CHARACTERS_MAX = 254;

/** Creates a user and the user's empty account. Returns null when the e-mail address is taken. */
export async function createUser(
  em: Em,
  input: { email: string; password: string; permissions: readonly string[] },
): Promise<string | null> {
  return insertUser(em, { ...input, passwordHash: await hashPassword(input.password) });
}

/** Creates a user whose password is hashed already, so that no transaction waits for the hashing. */
export async function insertUser(
  em: Em,
  input: { email: string; passwordHash: string; permissions: readonly string[] },
): Promise<string | null> {
  const id = makeId('usr');
  const [created] = await em.execute<{ id: string }[]>(sql`
    with created as (
      insert into app_user (id, email, password_hash, permissions)
      select ${id}, ${normaliseEmail(input.email)}, ${input.passwordHash},
             array(select jsonb_array_elements_text(${JSON.stringify(input.permissions)}::jsonb))
      on conflict (email) do nothing
      returning id
    ), opened as (insert into account (user_id) select id from created)
    select id from created`);
  return created?.id ?? null;
}

export async function findUserByEmail(em: Em, email: string): Promise<User | null> {
  return em.findOne(UserEntity, { email: normaliseEmail(email) });
}

export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
