// The operator's command line: what it makes, and what it says when it cannot.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { loadConfig } from '../../config/config.ts';
import { findApiKey } from '../../db/keys/find-key.ts';
import { listAuditEntries } from '../../db/audit-log.ts';
import { verifyPassword } from '../../db/identity/passwords.ts';
import { startTotp } from '../../db/identity/second-factors.ts';
import { Secrets } from '../../db/secrets.ts';
import { createSession } from '../../db/identity/sessions.ts';
import { createUser, findUserByEmail } from '../../db/identity/users.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { runAdmin, type CommandOutcome } from '../support/command-line.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';
import { forkEm } from '../../db/database.ts';

describe('npm run admin', () => {
  let stored: TestDatabase;
  before(async () => {
    stored = await createDatabase(2);
  });
  after(() => stored.drop());

  function run(args: string[], databaseUrl = stored.processUrl): Promise<CommandOutcome> {
    const secretKeys = `test:${randomBytes(32).toString('base64url')}`;
    return runAdmin(args, { DATABASE_URL: databaseUrl, SVC_SECRET_KEYS: secretKeys });
  }

  it('makes an administrator with every permission and shows the password once', async () => {
    const { code, output, errors } = await run(['create', ' Chief@Example.com ']);
    expect(errors).to.equal('');
    expect(code).to.equal(0);
    const user = await findUserByEmail(forkEm(stored.database), 'chief@example.com');
    expect(user?.permissions).to.deep.equal([...PERMISSIONS]);
    const [, password = ''] = /^password +(\S{24})$/m.exec(output) ?? [];
    expect(await verifyPassword(password, user?.passwordHash ?? null)).to.equal(true);
  });

  it('refuses an address that is taken, in one sentence', async () => {
    await run(['create', 'taken@example.com']);
    const { code, output, errors } = await run(['create', 'TAKEN@example.com']);
    expect(code).to.equal(1);
    expect(output).to.equal('');
    expect(errors).to.equal('There is already a user with the address taken@example.com.\n');
  });

  it('refuses what is no address, before it looks at the database', async () => {
    for (const text of ['chief', 'a b@example.com', `${'a'.repeat(250)}@example.com`]) {
      const { code, errors } = await run(['create', text], 'postgres://nobody@127.0.0.1:1/none');
      expect(code, text).to.equal(1);
      expect(errors, text).to.match(/^".+" is not an e-mail address\.\n$/);
    }
  });

  it('explains itself when it is called differently', async () => {
    const wrong = [[], ['create'], ['create', 'a@example.com', 'b@example.com'], ['grant', 'a@example.com']];
    for (const args of [...wrong, ['constructor'], ['check', 'now'], ['issue-key', 'a@example.com']]) {
      const { code, output, errors } = await run(args);
      expect(code).to.equal(1);
      expect(output).to.equal('');
      expect(errors).to.match(/^usage: npm run admin -- create EMAIL\n/);
    }
  });

  describe('for a user', () => {
    const secretKeys = `test:${randomBytes(32).toString('base64url')}`;
    const at = (...args: string[]): Promise<CommandOutcome> =>
      runAdmin(args, { DATABASE_URL: stored.processUrl, SVC_SECRET_KEYS: secretKeys });
    const em = () => forkEm(stored.database);
    const email = 'lost@example.com';
    let userId: string;
    before(async () => {
      userId = (await createUser(em(), { email, password: 'the old password', permissions: [] })) ?? '';
    });
    const actions = async (): Promise<string[]> => {
      const entries = await listAuditEntries(em(), { limit: 100, beforeId: null });
      return entries
        .filter(({ targetId, detail }) => targetId === userId || detail['userId'] === userId)
        .map(({ action, actorId, userAgent }) => {
          expect({ actorId, userAgent }).to.deep.equal({ actorId: null, userAgent: 'command line' });
          return action;
        })
        .toReversed();
    };

    it('resets the password, the second factor and all sessions', async () => {
      const secrets = new Secrets([{ id: 'test', bytes: randomBytes(32) }]);
      await createSession(em(), secrets, userId);
      await startTotp(em(), secrets, userId, 'JBSWY3DPEHPK3PXP');
      const { code, output, errors } = await at('reset', ' Lost@Example.com');
      expect({ code, errors }).to.deep.equal({ code: 0, errors: '' });
      const [, password = ''] = /^password (\S{24})$/m.exec(output) ?? [];
      const user = await findUserByEmail(em(), email);
      expect(await verifyPassword(password, user?.passwordHash ?? null)).to.equal(true);
      expect(user?.totpSecret).to.equal(null);
      expect(await em().execute(`select 1 from session where user_id = '${userId}'`)).to.deep.equal([]);
      expect(await actions()).to.deep.equal(['UPDATE_USER', 'RESET_SECOND_FACTOR']);
    });

    it('issues a key that works, and shows it once', async () => {
      const { code, output } = await at('issue-key', email, 'Night jobs');
      expect(code).to.equal(0);
      const [, key = ''] = /^key +(sk-svc_\w{49})$/m.exec(output) ?? [];
      const ring = loadConfig({ DATABASE_URL: stored.processUrl, SVC_SECRET_KEYS: secretKeys }).keyRing;
      const found = await findApiKey(em(), new Secrets(ring), key);
      expect(found?.key).to.include({ name: 'Night jobs' });
      expect(found?.user.id).to.equal(userId);
      expect((await actions()).at(-1)).to.equal('CREATE_API_KEY');
    });

    it('grants credits, and refuses what is no amount', async () => {
      const { code, output } = await at('grant', email, '12.5', 'For the wait');
      expect(code).to.equal(0);
      expect(output).to.match(
        /^granted 12\.5 to lost@example\.com: balance 12\.5, available 12\.5, entry led_/,
      );
      const refused = await Promise.all(
        ['0', '-1', '1e3', '0.0000001', '99999999999'].map((credits) => at('grant', email, credits)),
      );
      for (const { errors } of refused) expect(errors).to.match(/is no amount of credits/);
      expect((await actions()).at(-1)).to.equal('GRANT_CREDITS');
      expect(await at('check')).to.deep.equal({ code: 0, output: '0 violations\n', errors: '' });
    });

    it('checks the ledger with an exit code, and unfreezes', async () => {
      await em().execute(`update account set reserved = 1, frozen_at = now() where user_id = '${userId}'`);
      const broken = await at('check');
      expect(broken.code).to.equal(1);
      expect(broken.output).to.contain(`BROKEN: reserved is the sum of open reservations: ${userId}`);
      await em().execute(`update account set reserved = 0 where user_id = '${userId}'`);
      expect((await at('unfreeze', email)).output).to.match(/may spend again/);
      expect((await at('unfreeze', email)).output).to.match(/was not frozen/);
      expect((await actions()).filter((action) => action === 'UNFREEZE_ACCOUNT')).to.have.length(1);
    });

    it('tells which keys of the ring are still needed', async () => {
      const ring = `fresh:${randomBytes(32).toString('base64url')},${secretKeys}`;
      const settings = { DATABASE_URL: stored.processUrl, SVC_SECRET_KEYS: ring };
      const rotated = await runAdmin(['rotate'], settings);
      expect(rotated).to.include({ code: 0, errors: '' });
      expect(rotated.output).to.contain('encrypted again with key "fresh": 0 task requests');
      expect(rotated.output).to.contain('key "test" is still needed by 1 API keys');
      await em().execute(`update api_key set revoked_at = now()`);
      expect((await runAdmin(['rotate'], settings)).output).to.contain(
        'key "test" is needed by nothing: it may leave SVC_SECRET_KEYS',
      );
    });

    it('says in one sentence that there is no such user', async () => {
      for (const args of [['reset'], ['issue-key', 'x'], ['grant', '1'], ['unfreeze']]) {
        const [name = '', ...more] = args;
        const { code, errors } = await at(name, 'nobody@example.com', ...more);
        expect(code).to.equal(1);
        expect(errors).to.equal('There is no user with the address nobody@example.com.\n');
      }
    });
  });

  it('says which settings are missing', async () => {
    const { code, errors } = await runAdmin(['create', 'lost@example.com'], {});
    expect(code).to.equal(1);
    expect(errors).to.contain('DATABASE_URL').and.to.contain('SVC_SECRET_KEYS');
    expect(errors).not.to.contain('    at ');
  });

  it('says that the database does not answer, or has no tables', async () => {
    const away = await run(['create', 'early@example.com'], 'postgres://nobody@127.0.0.1:1/none');
    expect(away.errors).to.equal('The database server in DATABASE_URL does not answer.\n');
    const empty = await run(['create', 'early@example.com'], process.env['TEST_POSTGRES_URL']);
    expect(empty.errors).to.match(/^The database has no tables yet: .*\n$/);
    expect([away.code, empty.code]).to.deep.equal([1, 1]);
  });
});
