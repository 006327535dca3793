// Rotates the key ring: encrypts with the newest key what an older one encrypted, and counts what still needs
// an older one. The hashes of API keys are renewed where they are used (db/keys/hash-renewals.ts).
import { sql } from '@mikro-orm/postgresql';
import { writeAuditEntry, COMMAND_LINE } from './audit-log.ts';
import { KEY_KEPT_HOURS } from './idempotency/idempotency-keys.ts';
import { Secrets, type Sealed, type SecretKey, type SecretPurpose } from './secrets.ts';
import type { Em } from './database.ts';

export interface Rotation {
  /** Rows that were encrypted again, by what they are. */
  renewed: { what: string; rows: number }[];
  /** What still needs a key that is not the newest; such a key must stay in the ring. */
  dependents: Dependents[];
}

export interface Dependents {
  secretKeyId: string;
  /** Whether the key is in the ring; without it these are lost. */
  isInRing: boolean;
  what: string;
  rows: number;
}

/** Rows renewed in one transaction. */
const BATCH = 200;

/**
 * Encrypts again and counts. Safe to repeat and to interrupt, and safe beside a running gateway once all its
 * processes have the new ring: a process with the old ring still encrypts with the old key.
 */
export async function rotateSecrets(em: Em, ring: readonly SecretKey[]): Promise<Rotation> {
  const secrets = new Secrets(ring);
  const older = ring.slice(1).map(({ id }) => id);
  const renewed = [];
  for (const sealed of SEALED)
    renewed.push({ what: sealed.what, rows: await renew(em, secrets, older, sealed) });
  const dependents = await countDependents(em, ring);
  const detail = Object.fromEntries(renewed.map(({ what, rows }) => [what, rows]));
  const [newest] = ring;
  if (renewed.some(({ rows }) => rows > 0))
    await writeAuditEntry(em, COMMAND_LINE, {
      action: 'ROTATE_SECRETS',
      targetType: 'key_ring',
      targetId: newest?.id ?? '',
      detail,
    });
  return { renewed, dependents };
}

/** A table with encrypted columns: which they are, and the context each was sealed in. */
interface SealedTable {
  what: string;
  table: string;
  /** Columns of the primary key. */
  key: readonly string[];
  secretKeyId: string;
  columns: readonly { name: string; purpose: SecretPurpose; contextOf: (key: readonly string[]) => string }[];
}

const SEALED: readonly SealedTable[] = [
  {
    what: 'task requests',
    table: 'task_request',
    key: ['task_id'],
    secretKeyId: 'secret_key_id',
    columns: [
      { name: 'prompt', purpose: 'request', contextOf: ([taskId]) => `${taskId}:prompt` },
      { name: 'body', purpose: 'request', contextOf: ([taskId]) => `${taskId}:body` },
    ],
  },
  {
    what: 'submission results',
    table: 'submission',
    key: ['task_id', 'attempt'],
    secretKeyId: 'results_secret_key_id',
    columns: [{ name: 'results', purpose: 'result', contextOf: ([id, attempt]) => `${id}:${attempt}` }],
  },
  {
    what: 'second factors',
    table: 'app_user',
    key: ['id'],
    secretKeyId: 'totp_secret_key_id',
    columns: [{ name: 'totp_secret', purpose: 'totp', contextOf: ([userId]) => userId ?? '' }],
  },
  {
    what: 'answers kept for repeats',
    table: 'idempotency_key',
    key: ['id'],
    secretKeyId: 'answer_secret_key_id',
    columns: [{ name: 'answer', purpose: 'answer', contextOf: ([id]) => id ?? '' }],
  },
  {
    what: 'webhook secrets',
    table: 'webhook_endpoint',
    key: ['id'],
    secretKeyId: 'secret_key_id',
    columns: [{ name: 'secrets', purpose: 'webhook', contextOf: ([id]) => id ?? '' }],
  },
];

type Row = Record<string, unknown>;

/**
 * Counts what needs a key that is not the newest and can still be used: a revoked API key or an expired code
 * needs no hash any more.
 */
export async function countDependents(em: Em, ring: readonly SecretKey[]): Promise<Dependents[]> {
  const [newest] = ring;
  const rows = await em.execute<{ id: string; what: string; rows: number }[]>(sql`
    select id, what, count(*)::int as rows from (
      select secret_key_id as id, 'API keys' as what from api_key
        where revoked_at is null and (expires_at is null or expires_at > now())
      union all select secret_key_id, 'redeem codes' from redeem_code
        where disabled_at is null and used_count < max_uses and (expires_at is null or expires_at > now())
      union all select secret_key_id, 'recovery codes' from recovery_code where used_at is null
      union all select secret_key_id, 'sessions' from session where expires_at > now()
      union all select secret_key_id, 'logins under way' from login_flow where expires_at > now()
      union all select secret_key_id, 'task requests' from task_request
      union all select results_secret_key_id, 'submission results' from submission where results is not null
      union all select answer_secret_key_id, 'answers kept for repeats' from idempotency_key
        where answer is not null and created_at > now() - make_interval(hours => ${KEY_KEPT_HOURS})
      union all select secret_key_id, 'webhook secrets' from webhook_endpoint
      union all select totp_secret_key_id, 'second factors' from app_user where totp_secret is not null
    ) needed
    where id <> ${newest?.id ?? ''}
    group by id, what order by id, what`);
  const known = new Set(ring.map(({ id }) => id));
  return rows.map(({ id, what, rows: count }) => ({
    secretKeyId: id,
    isInRing: known.has(id),
    what,
    rows: count,
  }));
}

/** Renews a table in batches, each a transaction, in the order of the primary key. Answers how many rows. */
async function renew(
  em: Em,
  secrets: Secrets,
  older: readonly string[],
  sealed: SealedTable,
): Promise<number> {
  let last: Row | null = null;
  let renewed = 0;
  do {
    const after: Row | null = last;
    last = await em.transactional(async (tx) => {
      const batch = await lockBatch(tx, older, sealed, after);
      for (const row of batch) if (await renewRow(tx, secrets, sealed, row)) renewed += 1;
      return batch.at(-1) ?? null;
    });
  } while (last);
  return renewed;
}

async function lockBatch(
  tx: Em,
  older: readonly string[],
  { table, key, secretKeyId, columns }: SealedTable,
  after: Row | null,
): Promise<Row[]> {
  const names = [...key, secretKeyId, ...columns.map(({ name }) => name)]
    .map((name) => `"${name}"`)
    .join(', ');
  const beyond = after ? `and (${key.join(', ')}) > (${key.map(() => '?').join(', ')})` : '';
  return tx.execute<Row[]>(
    `select ${names} from ${table}
     where ${secretKeyId} in (select jsonb_array_elements_text(?::jsonb)) ${beyond}
     order by ${key.join(', ')} limit ${BATCH} for update`,
    [JSON.stringify(older), ...(after ? key.map((name) => after[name]) : [])],
  );
}

/**
 * False when the row cannot be decrypted: it stays as it is, and is counted among the dependents of its key.
 */
async function renewRow(
  tx: Em,
  secrets: Secrets,
  { table, key, secretKeyId, columns }: SealedTable,
  row: Row,
): Promise<boolean> {
  const keyValues = key.map((part) => row[part]);
  const fresh = columns.flatMap(({ name, purpose, contextOf }) => {
    const bytes = row[name];
    if (!(bytes instanceof Uint8Array)) return []; // removed, its time is over
    const context = contextOf(keyValues.map(String));
    const text = decryptIfPossible(secrets, purpose, context, {
      secretKeyId: String(row[secretKeyId]),
      bytes,
    });
    return [{ name, sealed: text === null ? null : secrets.seal(purpose, context, text) }];
  });
  const [first] = fresh;
  if (!first?.sealed || fresh.some(({ sealed }) => sealed === null)) return false;
  const assignments = fresh.map(({ name }) => `${name} = ?::bytea`).join(', ');
  const where = key.map((part) => `${part} = ?`).join(' and ');
  await tx.execute(`update ${table} set ${assignments}, ${secretKeyId} = ? where ${where}`, [
    ...fresh.map(({ sealed }) => sealed?.bytes),
    first.sealed.secretKeyId,
    ...keyValues,
  ]);
  return true;
}

function decryptIfPossible(
  secrets: Secrets,
  purpose: SecretPurpose,
  context: string,
  sealed: Sealed,
): string | null {
  try {
    return secrets.decrypt(purpose, context, sealed);
  } catch {
    return null;
  }
}
