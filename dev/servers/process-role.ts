// The database user that the processes run as on a server that was started here, or that tests are given.
import { createHash } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { openDatabase } from '../../db/open-database.ts';

/** Returns the address of the same database for the user `role`, whose password follows from the owner's. */
export function processUrl(ownerUrl: string, role: string): string {
  const url = new URL(ownerUrl);
  url.password = createHash('sha256').update(`${role}:${url.password}`).digest('base64url');
  url.username = role;
  return url.href;
}

/** Creates the user of `processUrl` on the server. Safe to repeat, also in parallel. */
export async function createProcessRole(ownerUrl: string, role: string): Promise<void> {
  const { password } = new URL(processUrl(ownerUrl, role));
  const database = openDatabase({ url: ownerUrl, connectionsMax: 1 });
  try {
    await database.em.fork().transactional(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${role}))`);
      const [found] = await tx.execute(sql`select 1 from pg_roles where rolname = ${role}`);
      if (!found) await tx.execute(`create role "${role}" login password '${password}'`);
    });
  } finally {
    await database.close();
  }
}
