// Statements about identity, each with values that were read too early, and many at once.
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { UserEntity, type Session, type User } from '../../../db/entities/identity.ts';
import {
  claimFlowGuess,
  createLoginFlow,
  findLoginFlow,
  finishLoginFlow,
} from '../../../db/identity/login-flows.ts';
import { changePassword } from '../../../db/identity/password-change.ts';
import { confirmTotp, removeTotp, startTotp, useSecondFactor } from '../../../db/identity/second-factors.ts';
import { Secrets } from '../../../db/secrets.ts';
import { createPasswordSession, createSession, findSession } from '../../../db/identity/sessions.ts';
import { makeTotpSecret } from '../../../db/identity/totp.ts';
import { createUser } from '../../../db/identity/users.ts';
import { claimVerifyGuess, verifySession } from '../../../db/identity/verification.ts';
import { openApp } from '../../support/http/browser.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { forkEm, type Em } from '../../../db/database.ts';

const ORIGIN = { actorId: null, ip: '192.0.2.1', userAgent: 'test', requestId: null };

describe('identity in the database', () => {
  let stored: TestDatabase;
  let user: User;
  const secrets = new Secrets([{ id: 'test', bytes: randomBytes(32) }]);

  before(async () => {
    stored = await createDatabase();
  });
  after(() => stored.drop());
  beforeEach(async () => {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    const id = await createUser(em(), { email, password: 'correct horse', permissions: [] });
    user = await readUser(id ?? '');
  });

  const em = (): Em => forkEm(stored.database);
  const many = <Result>(times: number, act: () => Promise<Result>): Promise<Result[]> =>
    Promise.all(Array.from({ length: times }, act));
  const isTrue = (value: unknown): boolean => Boolean(value);

  const readUser = (id: string): Promise<User> => em().findOneOrFail(UserEntity, { id });

  async function startSession(): Promise<Session> {
    const found = await findSession(em(), secrets, await createSession(em(), secrets, user.id));
    if (!found) throw new Error('the session did not start');
    return found.session;
  }

  const ownerOf = async (user: User) => ({ user, session: await startSession() });

  async function startFlow(): Promise<string> {
    const token = await createLoginFlow(em(), secrets, user);
    const found = await findLoginFlow(em(), secrets, token ?? '');
    if (!found) throw new Error('the flow did not start');
    return found.flow.id;
  }

  async function enrol(): Promise<{ app: ReturnType<typeof openApp>; recoveryCodes: string[] }> {
    const secret = makeTotpSecret();
    await startTotp(em(), secrets, user.id, secret);
    user = await readUser(user.id);
    const app = openApp(secret);
    const recoveryCodes = await confirmTotp(em(), secrets, await ownerOf(user), app.code(), ORIGIN);
    user = await readUser(user.id);
    return { app, recoveryCodes: recoveryCodes ?? [] };
  }

  async function countRows(table: 'recovery_code' | 'session' | 'login_flow'): Promise<number> {
    const from = sql.ref(table);
    const [row] = await em().execute<{ rows: number }[]>(sql`
      select count(*)::int as rows from ${from} where user_id = ${user.id}`);
    return row?.rows ?? -1;
  }

  it('judges five codes of a flow, however many come at once', async () => {
    const flow = await startFlow();
    const claims = await many(12, () => claimFlowGuess(em(), flow));
    expect(claims.filter(isTrue)).to.have.length(5);
  });

  it('finishes a flow once', async () => {
    const flow = await startFlow();
    expect((await many(6, () => finishLoginFlow(em(), secrets, flow, ORIGIN))).filter(isTrue)).to.have.length(
      1,
    );
    expect(await countRows('session')).to.equal(1);
  });

  it('judges five verifications, the fifth with the lock already on', async () => {
    const kinds = (await many(12, () => claimVerifyGuess(em(), user.id))).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'admitted')).to.have.length(4);
    expect(kinds.filter((kind) => kind === 'last')).to.have.length(1);
    expect(kinds.filter((kind) => kind === 'locked')).to.have.length(7);
  });

  it('changes the token of a session once for one old token', async () => {
    const session = await startSession();
    const verified = await many(6, () => verifySession(em(), secrets, session, 'password'));
    expect(verified.filter(isTrue)).to.have.length(1);
    expect(await changePassword(em(), secrets, { user, session }, 'another horse', ORIGIN)).to.equal(null);
    expect((await readUser(user.id)).passwordHash).to.equal(user.passwordHash);
  });

  it('confirms a second factor once, with one set of recovery codes', async () => {
    const secret = makeTotpSecret();
    await startTotp(em(), secrets, user.id, secret);
    user = await readUser(user.id);
    const code = openApp(secret).code();
    const owner = await ownerOf(user);
    const confirmed = await many(6, () => confirmTotp(em(), secrets, owner, code, ORIGIN));
    expect(confirmed.filter(isTrue)).to.have.length(1);
    expect(await countRows('recovery_code')).to.equal(10);
    expect(await startTotp(em(), secrets, user.id, makeTotpSecret())).to.equal(false);
  });

  it('does not confirm a secret that was replaced since it was read', async () => {
    const secret = makeTotpSecret();
    await startTotp(em(), secrets, user.id, secret);
    user = await readUser(user.id);
    await startTotp(em(), secrets, user.id, makeTotpSecret());
    expect(await confirmTotp(em(), secrets, await ownerOf(user), openApp(secret).code(), ORIGIN)).to.equal(
      null,
    );
    expect(await countRows('recovery_code')).to.equal(0);
  });

  it('uses every code once', async () => {
    const { app, recoveryCodes } = await enrol();
    const next = app.code(1);
    const byApp = await many(6, () => useSecondFactor(em(), secrets, user, next, ORIGIN));
    expect(byApp.filter(isTrue)).to.have.length(1);
    const byRecovery = await many(6, () =>
      useSecondFactor(em(), secrets, user, recoveryCodes[0] ?? '', ORIGIN),
    );
    expect(byRecovery.filter(isTrue)).to.have.length(1);
  });

  it('takes no code of a second factor that was removed since it was read', async () => {
    const { app, recoveryCodes } = await enrol();
    await removeTotp(em(), user.id);
    for (const code of [app.code(1), recoveryCodes[0] ?? ''])
      expect(await useSecondFactor(em(), secrets, user, code, ORIGIN)).to.equal(false);
  });

  it('starts no session by password alone once a second factor is on', async () => {
    const before = user;
    await enrol();
    expect(await createPasswordSession(em(), secrets, before, ORIGIN)).to.equal(null);
  });

  it('starts nothing for a password that is being changed', async () => {
    const begun = await stored.database.em.fork().transactional(async (tx) => {
      await tx.execute(sql`update app_user set password_hash = 'another' where id = ${user.id}`);
      const starts = [
        createPasswordSession(em(), secrets, user, ORIGIN),
        createLoginFlow(em(), secrets, user),
      ];
      await untilWaiting(2);
      return starts;
    });
    expect(await Promise.all(begun)).to.deep.equal([null, null]);
    expect([await countRows('session'), await countRows('login_flow')]).to.deep.equal([0, 0]);
  });

  it('changes a password for its old one only', async () => {
    const session = await startSession();
    await em().execute(sql`update app_user set password_hash = 'another' where id = ${user.id}`);
    expect(await changePassword(em(), secrets, { user, session }, 'another horse', ORIGIN)).to.equal(null);
    expect((await readUser(user.id)).passwordHash).to.equal('another');
  });

  /**
   * Waits until this many statements wait for a lock: by then they have read the values that they will check
   * again.
   */
  async function untilWaiting(count: number): Promise<void> {
    for (let waiting = 0; waiting < count;) {
      await setImmediate();
      const [row] = await em().execute<{ waiting: number }[]>(sql`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      waiting = row?.waiting ?? 0;
    }
  }
});
