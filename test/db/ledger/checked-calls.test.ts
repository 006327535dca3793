// What the check of the ledger finds about chat calls and the transfers that name them, step by step.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { checkAccounts } from '../../../db/ledger/checkpoints.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import * as rows from '../../support/rows.ts';

const CREDIT = 1_000_000n;
const RULE = 'a call is charged by the transfers that name it';
/** The calls of `addSettledCalls` after a grant: 2, 3 and 4. */
const callAt = (sequence: number) => `chat_${String(sequence).padStart(12, '0')}`;

describe('the check of chat calls', () => {
  let test: TestDatabase;
  let owner: string;
  const em = () => forkEm(test.database);

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());
  beforeEach(async () => {
    owner = await rows.createOwner(em(), 10n * CREDIT);
    await rows.addSettledCalls(em(), owner, 3);
  });

  const STEPS = {
    'in the step that passes the call': () => Promise.resolve(),
    'in a later step': async () => {
      expect(await checkAccounts(em(), [owner])).to.include({ verified: 1 });
    },
  };
  for (const [where, begin] of Object.entries(STEPS)) {
    it(`finds a second charge of a call ${where}`, async () => {
      await begin();
      await edit(charge(callAt(3)));
      expect(await violations()).to.deep.include({ rule: RULE, subject: callAt(3), userId: owner });
    });

    for (const callId of [`${callAt(3)}_none`, callAt(9)])
      it(`finds a charge of ${callId}, which is not there, ${where}`, async () => {
        await begin();
        await edit(charge(callId));
        expect(await violations()).to.deep.include({ rule: RULE, subject: callId, userId: owner });
      });
  }

  it('finds a redemption that names a charge', async () => {
    await edit(sql`
      insert into redemption (id, code_id, user_id, transfer_sequence, credits)
      values (${`rdm_${owner}`}, 'code_none', ${owner}, 3, 1)`);
    const rule = 'a redemption stands behind every redeemed grant';
    expect(await violations()).to.deep.include({ rule, subject: 'led_3', userId: owner });
  });

  async function violations() {
    return (await checkAccounts(em(), [owner])).violations;
  }

  /** A charge of the owner's with the account's figures, which names this call. */
  function charge(callId: string): RawQueryFragment {
    return sql`
      with moved as (
        update account set sequence = sequence + 1, balance = balance - 1, total_charged = total_charged + 1
        where user_id = ${owner} returning *
      )
      insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after, call_id,
        description)
      select user_id, sequence, 'led_x', 'operator:revenue', 'charge', -1, balance, ${callId}, 'chat' from moved`;
  }

  /** Edits rows with all triggers off. */
  async function edit(statement: RawQueryFragment): Promise<void> {
    await em().transactional(async (tx) => {
      await tx.execute(`set local session_replication_role = replica`);
      await tx.execute(statement);
    });
  }
});
