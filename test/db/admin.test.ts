// The operator's command line: what it makes, and what it says when it cannot.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { forkEm } from '../../db/orm.ts';
import { verifyPassword } from '../../db/passwords.ts';
import { findUserByEmail } from '../../db/users.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const program = join(import.meta.dirname, '../../db/admin.ts');

describe('npm run admin', () => {
  let stored: TestDatabase;
  before(async () => {
    stored = await createDatabase(2);
  });
  after(() => stored.drop());

  function run(args: string[], databaseUrl = stored.url): Promise<Outcome> {
    const secretKeys = `test:${randomBytes(32).toString('base64url')}`;
    return runProgram(args, { DATABASE_URL: databaseUrl, SVC_SECRET_KEYS: secretKeys });
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
    for (const args of [[], ['create'], ['create', 'a@example.com', 'b@example.com']]) {
      const { code, output, errors } = await run(args);
      expect(code).to.equal(1);
      expect(output).to.equal('');
      expect(errors).to.match(/^usage: npm run admin -- create EMAIL\n/);
    }
  });

  it('says which settings are missing', async () => {
    const { code, errors } = await runProgram(['create', 'lost@example.com'], {});
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

interface Outcome {
  code: number;
  output: string;
  errors: string;
}

function runProgram(args: string[], settings: Record<string, string>): Promise<Outcome> {
  const env = { PATH: process.env['PATH'] ?? '', ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (error, output, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
    });
  });
}
