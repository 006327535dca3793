// Finds an API key by its text, with the user that it belongs to, in one prepared statement.
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

/**
 * The key and its user, or null for a key that is malformed, unknown or revoked. It is looked for by its hash
 * with each key of the ring.
 */
export async function findApiKey(em: Em, secrets: Secrets, text: string): Promise<KeyHolder | null> {
  if (!isWellFormed(text)) return null;
  const [row] = await selectHolder(em, [secrets.hashes('api-key', text).map((hash) => hash.toString('hex'))]);
  return row ? toHolder(row) : null;
}

/** Times are text, as the driver gives them. */
interface HolderRow {
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

const selectHolder = prepare<HolderRow>(
  'find-api-key',
  `select id, name, secret_key_id as "secretKeyId", model_scope as "modelScope", expires_at as "expiresAt",
     last_used_at as "lastUsedAt", user_id as "userId", email, disabled_at as "disabledAt"
   from find_api_key($1)`,
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
