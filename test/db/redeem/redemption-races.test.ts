// What a redemption is judged by, when something else happens to its account or its code meanwhile.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { forkEm } from '../../../db/database.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { createRedeemCode, disableRedeemCode } from '../../../db/redeem/redeem-codes.ts';
import { redeem } from '../../../db/redeem/redemptions.ts';
import { Secrets } from '../../../db/secrets.ts';
import { BALANCE_MAX, MICRO_CREDITS_PER_CREDIT } from '../../../domain/credits.ts';
import { untilWaitingForLocks } from '../../support/lock-waits.ts';
import { createOwner } from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const CREDIT = MICRO_CREDITS_PER_CREDIT;

describe('a redemption', () => {
  const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);
  let test: TestDatabase;

  const em = () => forkEm(test.database);
  const makeCode = async (createdBy: string) => {
    const limits = { maxUses: 5, perUserLimit: null, expiresAt: null };
    return createRedeemCode(em(), secrets, COMMAND_LINE, {
      ...{ label: 'x', credits: CREDIT, createdBy },
      ...limits,
    });
  };
  const use = (userId: string, { text: code }: { text: string }) =>
    redeem(em(), secrets, { userId, code, requestId: 'r' });

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('of a user who redeems two codes at once leads to no balance above the limit', async () => {
    const userId = await createOwner(em(), BALANCE_MAX - CREDIT);
    const codes = [await makeCode(userId), await makeCode(userId)];
    const [answers] = await em().transactional(async (tx) => {
      await tx.execute(sql`select from account where user_id = ${userId} for update`);
      const both = Promise.all(codes.map((code) => use(userId, code)));
      await untilWaitingForLocks(em(), 2);
      return [both] as const;
    });
    const words = (await answers).map((answer) => (answer.kind === 'refused' ? answer.reason : answer.kind));
    expect(words.toSorted()).to.deep.equal(['balance_limit', 'redeemed']);
    expect(await findViolations(em())).to.deep.equal([]);
  });

  it('stays lawful when an administrator disables its code after the clock was set back', async () => {
    const userId = await createOwner(em(), CREDIT);
    const code = await makeCode(userId);
    expect(await use(userId, code)).to.include({ kind: 'redeemed' });
    await em().transactional(async (tx) => {
      await tx.execute('set local session_replication_role = replica');
      for (const [table, user] of [
        ['redemption', 'user_id'],
        ['ledger_transfer', 'account_id'],
      ] as const)
        await tx.execute(sql`
          update ${sql.ref(table)} set created_at = created_at + interval '1 minute' where ${sql.ref(user)} = ${userId}`);
    });
    expect(await disableRedeemCode(em(), COMMAND_LINE, code.record.id)).to.include({ status: 'disabled' });
    expect(await use(userId, code)).to.include({ reason: 'redeem_code_disabled' });
    expect(await findViolations(em())).to.deep.equal([]);
  });
});
