// Finds API keys by their text, with the user that each belongs to: many in one prepared statement.
import type { Em } from '../database.ts';
import type { ApiKey, User } from '../entities/identity.ts';
import { prepare } from '../prepared.ts';
import type { Secrets } from '../secrets.ts';
import { isWellFormed } from './key-texts.ts';

/** What a request with an API key is decided by. */
export interface KeyHolder {
  key: Pick<ApiKey, 'id' | 'name' | 'secretKeyId' | 'modelScope' | 'expiresAt' | 'lastUsedAt'>;
  user: Pick<User, 'id' | 'email' | 'disabledAt'>;
}

/** The key and its user, or null for a key that is malformed, unknown or revoked. */
export async function findApiKey(em: Em, secrets: Secrets, text: string): Promise<KeyHolder | null> {
  const [found] = await findApiKeys(em, secrets, [text]);
  return found ?? null;
}

/** Finds keys in the order of their texts; null for each that is malformed, unknown or revoked. */
export async function findApiKeys(
  em: Em,
  secrets: Secrets,
  texts: readonly string[],
): Promise<(KeyHolder | null)[]> {
  const found = texts.map((): KeyHolder | null => null);
  // A key is looked for by a hash with each key of the ring; a malformed one costs no query.
  const hashes = texts.flatMap((text, place) =>
    isWellFormed(text)
      ? secrets.hashes('api-key', text).map((hash) => ({ place, hash: hash.toString('hex') }))
      : [],
  );
  if (hashes.length === 0) return found;
  const rows = await selectHolders(em, [hashes.map(({ hash }) => hash), hashes.map(({ place }) => place)]);
  for (const row of rows) found[row.place] = toHolder(row);
  return found;
}

/** Times are text, as the driver gives them. */
interface HolderRow {
  place: number;
  id: string;
  name: string;
  secretKeyId: string;
  modelScope: string[] | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
  userId: string;
  email: string;
  disabledAt: string | null;
}

const selectHolders = prepare<HolderRow>(
  'find-api-keys',
  `select h.place, k.id, k.name, k.secret_key_id as "secretKeyId", k.model_scope as "modelScope",
     k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt", u.id as "userId", u.email,
     u.disabled_at as "disabledAt"
   from unnest($1::text[], $2::integer[]) h (hash, place)
   join api_key k on k.hash = decode(h.hash, 'hex') and k.revoked_at is null
   join app_user u on u.id = k.user_id`,
);

function toHolder({ id, name, secretKeyId, modelScope, ...row }: HolderRow): KeyHolder {
  const expiresAt = readTime(row.expiresAt);
  const lastUsedAt = readTime(row.lastUsedAt);
  return {
    key: { id, name, secretKeyId, modelScope, expiresAt, lastUsedAt },
    user: { id: row.userId, email: row.email, disabledAt: readTime(row.disabledAt) },
  };
}

function readTime(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
