// A lookup of an API key reads its own rows, however many there are and whatever the planner believes.
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { forkEm, type Em } from '../../../db/database.ts';
import { insertUser } from '../../../db/identity/users.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { findApiKey } from '../../../db/keys/find-key.ts';
import { Secrets } from '../../../db/secrets.ts';
import { createDatabase } from '../../support/servers/database.ts';

const OTHERS = 300;
/** PostgreSQL plans each of the first five runs of a statement for itself, and then keeps a plan. */
const RUNS_UNTIL_KEPT = 10;

describe('the lookup of an API key', () => {
  for (const isAnalyzed of [false, true])
    it(`finds it by its hash, by a plan made when it was the only one${isAnalyzed ? ' and statistics said so' : ''}`, async () => {
      const stored = await createDatabase(1); // one connection, which keeps the plans it has made
      try {
        const em = forkEm(stored.database);
        const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);
        const first = await addKey(em, secrets);
        if (isAnalyzed) await em.execute('analyze api_key, app_user');
        for (let run = 0; run < RUNS_UNTIL_KEPT; run += 1) await findApiKey(em, secrets, first.key);
        for (let other = 0; other < OTHERS; other += 1) await addKey(em, secrets);
        const before = await countRead(em);
        expect((await findApiKey(em, secrets, first.key))?.key.id).to.equal(first.id);
        expect((await countRead(em)) - before).to.equal(2);
      } finally {
        await stored.drop();
      }
    });
});

async function addKey(em: Em, secrets: Secrets): Promise<{ id: string; key: string }> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const userId = await insertUser(em, { email, passwordHash: '-', permissions: [] });
  return createApiKey(em, secrets, { userId: userId ?? '', name: 'Test' });
}

/** Rows of keys and users that all connections have read. */
async function countRead(em: Em): Promise<number> {
  await em.execute('select pg_stat_force_next_flush()');
  const [read] = await em.execute<{ rows: number }[]>(
    `select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_user_tables
     where relname in ('api_key', 'app_user')`,
  );
  return read?.rows ?? 0;
}
