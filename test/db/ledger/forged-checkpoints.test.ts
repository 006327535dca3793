// Checkpoints that no check has written so: the check from the beginning names them.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm, type Database } from '../../../db/database.ts';
import { checkAccounts } from '../../../db/ledger/checkpoints.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { openDatabase } from '../../../db/open-database.ts';
import { grantOnce } from '../../support/credits.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const RULE = 'a checkpoint has the sums of its transfers and is not beyond them';

describe('a forged checkpoint', () => {
  let test: TestDatabase;
  let processes: Database;
  let owner: string;

  before(async () => {
    test = await createDatabase();
    processes = openDatabase({ url: test.processUrl, connectionsMax: 2 });
  });
  after(async () => {
    await processes.close();
    await test.drop();
  });
  beforeEach(async () => {
    owner = await rows.createOwner(em(), 10n);
    await grantOnce(em(), { userId: owner, amount: 5n, idempotencyKey: owner, description: 'x' });
    expect(await checkAccounts(em(), [owner])).to.include({ verified: 1 });
    expect(await found()).to.deep.equal([]);
  });
  afterEach(() => em().execute(sql`delete from ledger_checkpoint`));

  const em = () => forkEm(processes);
  const found = async () => (await findViolations(em())).map(({ rule, userId }) => ({ rule, userId }));

  const FORGED = {
    'has another balance': 'balance = balance + 1, granted = granted + 1',
    'has other sums of what was granted and charged': 'granted = granted + 5, charged = charged + 5',
    'is beyond the last transfer': 'sequence = sequence + 1',
    'is beyond the last call': `call_id = 'call_z'`,
    'begins in the future': `began_at = now() + interval '1 day'`,
    'was verified in the future': `verified_at = now() + interval '1 day'`,
  };
  for (const [what, forged] of Object.entries(FORGED))
    it(`is found from the beginning where it ${what}`, async () => {
      await em().execute(`update ledger_checkpoint set ${forged} where user_id = '${owner}'`);
      expect(await found()).to.deep.equal([{ rule: RULE, userId: owner }]);
    });

  it('does not keep the scheduled check from beginning anew where it says so for the future', async () => {
    await em().execute(sql`
      update ledger_checkpoint set began_at = now() + interval '1 day', sequence = 1, balance = 0
      where user_id = ${owner}`);
    expect(await checkAccounts(em(), [owner])).to.deep.include({ verified: 1, violations: [] });
    expect(await found()).to.deep.equal([]);
  });
});
