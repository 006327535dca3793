// API keys in the database: what a key looks like, which secrets find it, and what an older schema becomes.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { createApiKey, createLimitedApiKey, findApiKey } from '../../../db/keys/api-keys.ts';
import { isWellFormed, makeKeyText, visiblePartOf } from '../../../db/keys/key-texts.ts';
import { migrate } from '../../../db/open-database.ts';
import { Secrets, type SecretKey } from '../../../db/secrets.ts';
import { createUser } from '../../../db/identity/users.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { forkEm } from '../../../db/database.ts';

const ringKey = (id: string): SecretKey => ({ id, bytes: randomBytes(32) });

describe('API keys', () => {
  describe('as texts', () => {
    it('are a prefix, 43 characters of secret and 6 of checksum, and never the same', () => {
      const keys = Array.from({ length: 200 }, makeKeyText);
      for (const key of keys) {
        expect(key).to.match(/^sk-svc_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
        expect(isWellFormed(key)).to.equal(true);
        expect(visiblePartOf(key)).to.equal(key.slice(0, 15));
      }
      expect(new Set(keys.map((key) => key.slice(7, 50))).size).to.equal(keys.length);
    });

    it('use every character of base 62 about equally often', () => {
      const counts = new Map<string, number>();
      for (const character of Array.from({ length: 300 }, () => makeKeyText().slice(7, 50)).join(''))
        counts.set(character, (counts.get(character) ?? 0) + 1);
      expect(counts.size).to.equal(62);
      for (const [character, count] of counts) expect(count, character).to.be.within(120, 300); // 208 expected
    });

    it('are recognised as mistyped when any one bit is changed', () => {
      const key = makeKeyText();
      for (let position = 0; position < key.length; position += 1)
        for (let bit = 0; bit < 8; bit += 1) {
          const changed = Buffer.from(key, 'latin1');
          changed[position] = (changed[position] ?? 0) ^ (1 << bit);
          expect(isWellFormed(changed.toString('latin1')), `bit ${bit} of ${position}`).to.equal(false);
        }
    });

    const key = makeKeyText();
    const wrong: [title: string, text: string][] = [
      ['nothing', ''],
      ['another prefix', key.replace('sk-svc_', 'sk-live_')],
      ['the prefix in capitals', key.replace('sk-svc_', 'SK-SVC_')],
      ['a character less', key.slice(0, -1)],
      ['a character more', `${key}0`],
      ['a line break behind it', `${key}\n`],
      ['two neighbours swapped', swapNeighbours(key)],
      ['no checksum', key.slice(0, -6)],
      ['a wide digit', key.slice(0, -1) + '０'],
    ];
    for (const [title, text] of wrong)
      it(`are nothing with ${title}`, () => expect(isWellFormed(text)).to.equal(false));
  });

  describe('in the database', () => {
    let test: TestDatabase;
    let userId: string;
    before(async () => {
      test = await createDatabase();
      const user = { email: 'a@example.com', password: 'long enough', permissions: [] };
      userId = (await createUser(em(), user)) ?? '';
    });
    after(() => test.drop());
    const em = () => forkEm(test.database);
    const [older, newer, other] = [ringKey('old'), ringKey('new'), ringKey('other')];

    it('are found with every key of the ring, and not when theirs has left it', async () => {
      const { id, key } = await createApiKey(em(), new Secrets([older]), { userId, name: 'Old' });
      const find = (...ring: SecretKey[]) => findApiKey(em(), new Secrets(ring), key);
      expect((await find(older))?.key.id).to.equal(id);
      expect((await find(newer, older))?.key.id).to.equal(id);
      expect((await find(other, newer, older))?.key.id).to.equal(id);
      expect(await find(newer)).to.equal(null);
      expect(await find({ ...older, bytes: newer.bytes })).to.equal(null);
    });

    it('are hashed with the newest key of the ring', async () => {
      const { id, key } = await createApiKey(em(), new Secrets([newer, older]), { userId, name: 'New' });
      const [row] = await em().execute<{ secret_key_id: string; length: number; text: string }[]>(sql`
        select secret_key_id, length(hash) as length, api_key::text as text from api_key where id = ${id}`);
      expect(row).to.include({ secret_key_id: 'new', length: 32 });
      expect(row?.text).not.to.contain(key.slice(15));
      expect((await findApiKey(em(), new Secrets([newer]), key))?.key.id).to.equal(id);
      expect(await findApiKey(em(), new Secrets([older]), key)).to.equal(null);
    });

    it('are not found when they are revoked, unknown, or changed by one character', async () => {
      const secrets = new Secrets([newer]);
      const { id, key } = await createApiKey(em(), secrets, { userId, name: 'Short-lived' });
      expect(await findApiKey(em(), secrets, makeKeyText())).to.equal(null);
      expect(await findApiKey(em(), secrets, swapNeighbours(key))).to.equal(null);
      await em().execute(sql`update api_key set revoked_at = now() where id = ${id}`);
      expect(await findApiKey(em(), secrets, key)).to.equal(null);
    });

    it('keep their limits exactly', async () => {
      const secrets = new Secrets([newer]);
      const limits = {
        ...{ quota: 10_000_000_000_001n, dailyBudget: 0n, modelScope: ['a,b', '"c"', '{d}', 'null', ''] },
        expiresAt: new Date('2099-03-31T22:59:59.123Z'),
      };
      const { key } = await createApiKey(em(), secrets, { userId, name: 'k', ...limits });
      const found = await findApiKey(em(), secrets, key);
      expect(found?.key).to.deep.include(limits);
      expect(found?.key).to.include({ used: 0n, reserved: 0n, dayUsed: 0n, dayReserved: 0n });
    });

    it('are limited in number per user, also when they are made at the same time', async () => {
      const user = { email: 'b@example.com', password: 'long enough', permissions: [] };
      const input = { userId: (await createUser(em(), user)) ?? '', name: 'k' };
      const secrets = new Secrets([newer]);
      const make = () => createLimitedApiKey(em(), secrets, input, { keysMax: 5, origin: COMMAND_LINE });
      const made = await Promise.all(Array.from({ length: 12 }, make));
      expect(made.filter((key) => key !== null)).to.have.length(5);
      await em().execute(
        sql`update api_key set revoked_at = now() where id = ${made.find((key) => key)?.id ?? ''}`,
      );
      expect(await make()).to.be.an('object');
      expect(await make()).to.equal(null);
    });
  });

  it('of the first schema get their counters from their reservations', async () => {
    const test = await createEmptyDatabase();
    try {
      await test.database.migrator.up({ to: '001-initial' });
      const em = forkEm(test.database);
      await em.execute(FIRST_SCHEMA_ROWS);
      expect((await migrate(test.database))[0]).to.equal('002-identity');
      const keys = await em.execute<object[]>(sql`
        select id, used::int, reserved::int, day_used::int as "dayUsed", day_reserved::int as "dayReserved",
               quota, daily_budget as "dailyBudget", day = (now() at time zone 'utc')::date as "isToday"
        from api_key order by id`);
      const unlimited = { quota: null, dailyBudget: null, isToday: true };
      expect(keys).to.deep.equal([
        {
          id: 'key_busy',
          used: 5 - 2 + 7 + 6,
          reserved: 3 + 4,
          dayUsed: 3 + 6,
          dayReserved: 3,
          ...unlimited,
        },
        { id: 'key_other', used: 9, reserved: 0, dayUsed: 9, dayReserved: 0, ...unlimited },
        { id: 'key_unused', used: 0, reserved: 0, dayUsed: 0, dayReserved: 0, ...unlimited },
      ]);
      const days = await em.execute<{ fits: boolean }[]>(sql`
        select bool_and(day = (created_at at time zone 'utc')::date) as fits from reservation`);
      expect(days).to.deep.equal([{ fits: true }]);
      expect(await migrate(test.database)).to.deep.equal([]);
    } finally {
      await test.drop();
    }
  });
});

/** Reservations in every state, of today and of yesterday, by the key `busy`, by others and by none. */
const FIRST_SCHEMA_ROWS = `
insert into app_user (id, email, password_hash) values ('usr_1', 'a@example.com', 'x');
insert into account (user_id, balance, reserved, total_granted) values ('usr_1', 1000, 20, 1000);
insert into api_key (id, user_id, name, secret_key_id, hash, prefix)
select 'key_' || name, 'usr_1', name, 'k', decode(md5(name), 'hex'), 'sk-svc_x'
from unnest(array['busy', 'other', 'unused']) name;
create temporary table wanted (n int, key_id text, amount int, state text, charged int, refunded int, days_ago int);
insert into wanted values
  (1, 'key_busy', 3, 'open', null, 0, 0),
  (2, 'key_busy', 4, 'open', null, 0, 1),
  (3, 'key_busy', 8, 'charged', 5, 2, 0),
  (4, 'key_busy', 7, 'charged', 7, 0, 1),
  (5, 'key_busy', 6, 'charged', 6, 0, 0),
  (6, 'key_busy', 6, 'charged', 0, 0, 0),
  (7, 'key_busy', 90, 'released', null, 0, 0),
  (8, 'key_busy', 91, 'released', null, 0, 1),
  (9, 'key_other', 9, 'charged', 9, 0, 0),
  (10, null, 13, 'open', null, 0, 0);
insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, ordered, price, credits_estimate, request_payload)
select 'task_' || n, 'usr_1', key_id, 'image', 'm', 'f', 'a', 'u', '{}', '{}', amount, '{}' from wanted;
insert into reservation (id, user_id, key_id, task_id, attempt, amount, state, charged, refunded, created_at, settled_at)
select 'res_' || n, 'usr_1', key_id, 'task_' || n, 1, amount, state, charged, refunded, now() - days_ago * interval '1 day',
       case when state <> 'open' then now() end
from wanted;
drop table wanted;
`;

/** Swaps the first two different neighbours behind the prefix. */
function swapNeighbours(key: string): string {
  const at = [...key].findIndex((character, index) => index >= 7 && character !== key[index + 1]);
  return `${key.slice(0, at)}${key[at + 1] ?? ''}${key[at] ?? ''}${key.slice(at + 2)}`;
}
