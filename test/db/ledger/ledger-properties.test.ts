// The ledger under any sequence of moves: it does what a model in plain numbers says, also under concurrent
// moves.
//
// Proof that it can fail: each of these mutations, tried by hand, was found within five seconds (S: by the
// sequence of commands, C: by the concurrent ones). - reserve without the condition on the balance: SC, the
// table's own check; without the key's quota: S - charge without `state = 'open'`: C; release without it: SC;
// a chat call that is settled twice: SC - a completion that releases instead of charging: SC - no unique
// (task_id, attempt), and reserve without `admitted_at is null`: SC - a completion that counts when it is
// delivered twice: S; one of an attempt that is over: C - a grant twice for one idempotency key: S; a redeem
// code that is not used up: SC - reserve without its lock on the account: C; a call that does not look at the
// balance: SC - reserve that writes `a.reserved + amount` in place of the locked row's value: C, because
// PostgreSQL checks the   row as the statement first saw it, without credits that came meanwhile
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { Secrets } from '../../../db/secrets.ts';
import { toCredits } from '../../../domain/credits.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { LedgerBench } from '../../support/ledger/database-side.ts';
import { anyCommand, type Command } from '../../support/ledger/commands.ts';
import { createModel, predict, type Model } from '../../support/ledger/model.ts';
import { forkEm } from '../../../db/database.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const LIMIT_MS = Number(process.env['TEST_SECONDS'] ?? 8) * 1_000;
const AT_ONCE = 16;

describe(`the ledger and its model (seed ${SEED}; set another one with TEST_SEED, longer with TEST_SECONDS)`, function () {
  this.timeout(LIMIT_MS * 3 + 120_000);
  let stored: TestDatabase;
  const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);

  before(async () => {
    stored = await createDatabase(AT_ONCE);
  });
  after(() => stored.drop());

  it('agree after every command', async () => {
    const commands = fc.array(anyCommand, { minLength: 10, maxLength: 60, size: 'max' });
    await check(commands, async (sequence) => {
      const bench = await LedgerBench.create(stored.database, secrets);
      const model = createModel();
      for (const command of sequence) {
        const predicted = predict(model, command);
        expect(await bench.perform(command), JSON.stringify(command)).to.equal(predicted);
        expect(await readUsers(bench), JSON.stringify(command)).to.deep.equal(usersOf(model));
      }
      expect(await findViolations(forkEm(stored.database))).to.deep.equal([]);
    });
  });

  it('keep the invariants when sixteen commands run at once', async () => {
    const rounds = fc.array(fc.array(anyCommand, { minLength: AT_ONCE, maxLength: AT_ONCE }), {
      ...{ minLength: 2, maxLength: 6, size: 'max' },
    });
    await check(rounds, async (sequence) => {
      const bench = await LedgerBench.create(stored.database, secrets);
      for (const round of [STOCK, ...sequence]) {
        await Promise.all(round.map((command) => bench.perform(command)));
        expect(await findViolations(forkEm(stored.database))).to.deep.equal([]);
      }
    });
  });

  async function check<Value>(
    values: fc.Arbitrary<Value>,
    run: (value: Value) => Promise<void>,
  ): Promise<void> {
    const settings = {
      seed: SEED,
      numRuns: 1_000_000,
      interruptAfterTimeLimit: LIMIT_MS,
      markInterruptAsFailure: false,
    };
    await fc.assert(fc.asyncProperty(values, run), settings);
  }

  async function readUsers(bench: LedgerBench): Promise<unknown[]> {
    const ids = bench.people.map(({ userId }) => userId);
    const rows = await forkEm(stored.database).execute<Record<string, string>[]>(
      `select user_id as "userId", balance, a.reserved, total_granted as granted, total_charged as charged,
              s.used as "keyUsed", s.reserved as "keyReserved"
       from account a join api_key k using (user_id) join key_spending s on s.key_id = k.id where user_id in (?, ?)`,
      ids,
    );
    return ids.map((id) => {
      const { userId: _, ...amounts } = rows.find(({ userId }) => userId === id) ?? {};
      return Object.fromEntries(
        Object.entries(amounts).map(([name, amount]) => [name, toCredits(BigInt(amount))]),
      );
    });
  }
});

/** Queued tasks to begin with, so that concurrent commands collide from the first moment. */
const STOCK: readonly Command[] = [0, 1].flatMap((user) => [
  { kind: 'create', user, credits: 6, byKey: true },
  { kind: 'create', user, credits: 6, byKey: false },
  { kind: 'create', user, credits: 6, byKey: true },
]);

function usersOf({ users }: Model): unknown[] {
  return users.map(({ balance, reserved, granted, charged, key }) => ({
    ...{ balance, reserved, granted, charged, keyUsed: key.used, keyReserved: key.reserved },
  }));
}
