// Creates demo data: a user with credits and a key, and an administrator. Safe to run again.
import { readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadConfig } from '../../config/config.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { findApiKey } from '../../db/keys/find-key.ts';
import { COMMAND_LINE } from '../../db/audit-log.ts';
import { grantCredits } from '../../db/identity/user-administration.ts';
import { openDatabase } from '../../db/open-database.ts';
import { Secrets } from '../../db/secrets.ts';
import { createUser, findUserByEmail } from '../../db/identity/users.ts';
import { parseCredits } from '../../domain/credits.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { forkEm, type Database } from '../../db/database.ts';

interface DemoData {
  apiKey: string;
  user: { email: string; password: string };
  admin: { email: string; password: string };
}

const DEMO_CREDITS = '1000';

const config = loadConfig();
const database = openDatabase({ url: config.databaseUrl, connectionsMax: 2 });
try {
  const file = join(config.dataDir, 'demo.json');
  const demo = await ensureDemoData(database, new Secrets(config.keyRing), readKept(file));
  writeFileSync(file, JSON.stringify(demo), { mode: 0o600 });
  process.stdout.write(`${JSON.stringify(demo)}\n`);
} finally {
  await database.close();
}

/** Reads kept demo data: passwords and key can be shown only once, so they are kept beside the database. */
function readKept(file: string): DemoData | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

async function ensureDemoData(opened: Database, secrets: Secrets, kept: DemoData | null): Promise<DemoData> {
  const em = forkEm(opened);
  if (kept && (await findApiKey(em, secrets, kept.apiKey))) return kept;
  const suffix = (await findUserByEmail(em, 'demo@example.com')) ? `-${randomBytes(3).toString('hex')}` : '';
  const user = { email: `demo${suffix}@example.com`, password: randomBytes(9).toString('base64url') };
  const admin = { email: `admin${suffix}@example.com`, password: randomBytes(9).toString('base64url') };
  const userId = await createUser(em, { ...user, permissions: [] });
  await createUser(em, { ...admin, permissions: PERMISSIONS });
  if (!userId) throw new Error('the demo user could not be created');
  const credits = parseCredits(DEMO_CREDITS);
  await grantCredits(em, COMMAND_LINE, { userId, credits, note: 'Demo credits' });
  const { key: apiKey } = await createApiKey(em, secrets, { userId, name: 'Demo key' });
  return { apiKey, user, admin };
}
