// An account that another transaction holds: calls of other users in the same statement do not wait for it.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { NewChatCall } from '../../../db/chat/calls.ts';
import { createChatCalls, type ChatCalls } from '../../../db/chat/chat-ledger.ts';
import { forkEm } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);
const RESERVED = { kind: 'reserved', amount: CREDIT };

describe('chat calls beside a locked account', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let calls: ChatCalls;

  before(async () => {
    stored = await createDatabase();
    calls = createChatCalls(stored.database, 60);
  });
  after(() => stored.drop());

  it('wait half a second at most when they are another user’s; its own wait until it is free', async () => {
    const em = forkEm(stored.database);
    const [busy, free] = [await createSpender(em, 10), await createSpender(em, 10)];
    const [own] = await forkEm(stored.database).transactional(async (tx) => {
      await tx.execute(sql`select from account where user_id = ${busy.userId} for update`);
      const first = calls.reserve(newCall(free)); // runs alone; the two that follow share a statement
      const waiting = calls.reserve(newCall(busy));
      const beside = calls.reserve(newCall(free));
      const startedAt = performance.now();
      expect(await Promise.all([first, beside])).to.deep.equal([RESERVED, RESERVED]);
      expect(performance.now() - startedAt).to.be.below(1_500);
      expect(await Promise.race([waiting, Promise.resolve('it waits')])).to.equal('it waits');
      return [waiting] as const;
    });
    expect(await own).to.deep.equal(RESERVED);
    expect(await findViolations(em)).to.deep.equal([]);
  });

  it('wait no longer when the other user has many in the same statement', async () => {
    const em = forkEm(stored.database);
    const [busy, free] = [await createSpender(em, 50), await createSpender(em, 10)];
    const [own] = await forkEm(stored.database).transactional(async (tx) => {
      await tx.execute(sql`select from account where user_id = ${busy.userId} for update`);
      const first = calls.reserve(newCall(free)); // runs alone; those that follow share a statement
      const waiting = Promise.allSettled(Array.from({ length: 12 }, () => calls.reserve(newCall(busy))));
      const beside = calls.reserve(newCall(free));
      const startedAt = performance.now();
      expect(await Promise.all([first, beside])).to.deep.equal([RESERVED, RESERVED]);
      expect(performance.now() - startedAt).to.be.below(1_800);
      return [waiting] as const;
    });
    for (const { status } of await own) expect(status).to.equal('fulfilled');
    expect(await findViolations(em)).to.deep.equal([]);
  });

  function newCall(who: Spender): NewChatCall {
    const about = { model: 'gpt', stream: false, requestId: 'r' };
    return { id: makeId('call'), ...who, ...about, amount: CREDIT, amountMax: CREDIT, claim: null };
  }
});
