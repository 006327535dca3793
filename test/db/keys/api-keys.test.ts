// API keys in the database: what a key looks like, which secrets find it, and how many a user may have.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { createApiKey, createLimitedApiKey, findOwnKey } from '../../../db/keys/api-keys.ts';
import { findApiKey } from '../../../db/keys/find-key.ts';
import { isWellFormed, makeKeyText, visiblePartOf } from '../../../db/keys/key-texts.ts';
import { Secrets, type SecretKey } from '../../../db/secrets.ts';
import { createUser } from '../../../db/identity/users.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
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
      const { id, key } = await createApiKey(em(), secrets, { userId, name: 'k', ...limits });
      const { quota, dailyBudget, ...ofKey } = limits;
      expect((await findApiKey(em(), secrets, key))?.key).to.deep.include(ofKey);
      const own = await findOwnKey(em(), userId, id);
      expect(own?.spending).to.include({
        quota,
        dailyBudget,
        used: 0n,
        reserved: 0n,
        dayUsed: 0n,
        dayReserved: 0n,
      });
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
});

/** Swaps the first two different neighbours behind the prefix. */
function swapNeighbours(key: string): string {
  const at = [...key].findIndex((character, index) => index >= 7 && character !== key[index + 1]);
  return `${key.slice(0, at)}${key[at + 1] ?? ''}${key[at] ?? ''}${key.slice(at + 2)}`;
}
