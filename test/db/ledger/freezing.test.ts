// Freezing accounts that violate a rule, while something else holds one of them.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { checkAccounts } from '../../../db/ledger/checkpoints.ts';
import { createOwner } from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

describe('freezing', () => {
  let test: TestDatabase;

  const em = () => forkEm(test.database);

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('of several accounts is not held up by one that another transaction holds, which comes later', async () => {
    const owners = [await createOwner(em(), 5n), await createOwner(em(), 5n), await createOwner(em(), 5n)];
    const [, busy = ''] = owners;
    for (const id of owners)
      await em().execute(sql`update account set reserved = reserved + 1 where user_id = ${id}`);
    const others = owners.filter((id) => id !== busy);
    await em().transactional(async (tx) => {
      await tx.execute(sql`select from account where user_id = ${busy} for update`);
      const { violations, frozen } = await checkAccounts(em(), owners);
      expect(violations.map(({ userId }) => userId)).to.have.members(owners);
      expect(frozen).to.have.members(others);
    });
    expect((await checkAccounts(em(), owners)).frozen).to.deep.equal([busy]);
  });
});
