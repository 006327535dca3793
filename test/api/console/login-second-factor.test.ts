// Logging in with a second factor: the flow between password and code, and what wrong codes cost.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  enrolUser,
  expectLimited,
  forgetGuesses,
  forgetUsedCodes,
  isAlive,
  repeat,
  sortedStatuses,
  tokenOf,
  type Enrolled,
} from '../../support/http/browser.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const LOGIN = '/api/auth/login';
const SECOND = '/api/auth/login/2fa';

describe('logging in with a second factor', () => {
  let gateway: TestGateway;
  let enrolled: Enrolled;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_AUTH: '20/1200' } });
    enrolled = await enrolUser(gateway);
  });
  beforeEach(async () => {
    forgetGuesses(gateway);
    await forgetUsedCodes(gateway, enrolled.user);
  });
  after(() => gateway.stop());

  const logIn = ({ email, password }: { email: string; password: string }): Promise<Answer> =>
    gateway.anonymous.post(LOGIN, { email, password });
  const finish = (flowToken: unknown, code: unknown): Promise<Answer> =>
    gateway.anonymous.post(SECOND, { flowToken, code });
  const beginFlow = async ({ user }: Enrolled = enrolled): Promise<string> => {
    const { status, body } = await logIn(user);
    expect([status, body.data.twoFactorRequired]).to.deep.equal([200, true]);
    return body.data.flowToken;
  };

  it('asks for it, and gives no session before', async () => {
    const answer = await logIn(enrolled.user);
    expect(answer.status).to.equal(200);
    expect(answer.body.data).to.have.all.keys('twoFactorRequired', 'flowToken');
    expect(answer.body.data.flowToken).to.match(/^[\w-]{51}$/);
    expect(answer.headers.get('set-cookie')).to.equal(null);
    expect(await isAlive(gateway, answer.body.data.flowToken)).to.equal(false);
  });

  it('answers the user and a cookie for the code of the app', async () => {
    const answer = await finish(await beginFlow(), enrolled.app.code());
    expect(answer.status).to.equal(200);
    expect(answer.body.data).to.include({ id: enrolled.user.id, twoFactorEnabled: true });
    expect(answer.headers.get('set-cookie')).to.match(/; HttpOnly; SameSite=Lax; Path=\/$/);
    expect(await isAlive(gateway, tokenOf(answer) ?? '')).to.equal(true);
  });

  it('takes the code as the app shows it, in two groups', async () => {
    const code = enrolled.app.code();
    const answer = await finish(await beginFlow(), `${code.slice(0, 3)} ${code.slice(3)}`);
    expect(answer.status).to.equal(200);
  });

  it('takes a code once: the next login needs the next code', async () => {
    const code = enrolled.app.code();
    expect((await finish(await beginFlow(), code)).status).to.equal(200);
    expectError(await finish(await beginFlow(), code), 401, 'invalid_credentials', null);
    expect((await finish(await beginFlow(), enrolled.app.code(1))).status).to.equal(200);
  });

  it('refuses a code of two steps ago', async () =>
    expectError(await finish(await beginFlow(), enrolled.app.code(-2)), 401, 'invalid_credentials'));

  it('takes a recovery code once, however it is typed', async () => {
    const [code = '', other = ''] = enrolled.recoveryCodes;
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `;
    expect((await finish(await beginFlow(), typed)).status).to.equal(200);
    expectError(await finish(await beginFlow(), code), 401, 'invalid_credentials');
    expect((await finish(await beginFlow(), other)).status).to.equal(200);
  });

  it('lets one of many win when a recovery code is used in parallel', async () => {
    const code = enrolled.recoveryCodes[2];
    const flows = await Promise.all(Array.from({ length: 6 }, () => beginFlow()));
    const answers = await Promise.all(flows.map((flow) => finish(flow, code)));
    expect(sortedStatuses(answers)).to.deep.equal([200, 401, 401, 401, 401, 401]);
  });

  it('does not take somebody else’s recovery code or app code', async () => {
    const other = await enrolUser(gateway);
    expectError(await finish(await beginFlow(), other.recoveryCodes[0]), 401, 'invalid_credentials');
    const code = other.app.code();
    if (code !== enrolled.app.code())
      expectError(await finish(await beginFlow(), code), 401, 'invalid_credentials');
  });

  it('lets a flow be finished once, also in parallel', async () => {
    const flow = await beginFlow();
    const codes = [...enrolled.recoveryCodes.slice(3, 6), enrolled.app.code()];
    const answers = await Promise.all(codes.map((code) => finish(flow, code)));
    expect(sortedStatuses(answers)).to.deep.equal([200, 401, 401, 401]);
    expectError(await finish(flow, enrolled.app.code(1)), 401, 'invalid_credentials');
  });

  it('ends the flow with the fifth wrong code', async () => {
    const flow = await beginFlow();
    const wrong = enrolled.app.wrongCode();
    for (const answer of await repeat(5, () => finish(flow, wrong)))
      expectError(answer, 401, 'invalid_credentials');
    expectError(await finish(flow, enrolled.app.code()), 401, 'invalid_credentials');
    expect((await finish(await beginFlow(), enrolled.app.code())).status).to.equal(200);
  });

  it('still takes the right code as the fifth', async () => {
    const flow = await beginFlow();
    await repeat(4, () => finish(flow, enrolled.app.wrongCode()));
    expect((await finish(flow, enrolled.app.code())).status).to.equal(200);
  });

  it('limits wrong codes per user, across flows', async () => {
    const wrong = enrolled.app.wrongCode();
    for (const flow of [await beginFlow(), await beginFlow()]) await repeat(5, () => finish(flow, wrong));
    const answer = await finish(await beginFlow(), enrolled.app.code());
    expectLimited(answer, 'rate_limited', 10, 3_600);
  });

  it('gives one answer for every flow that is not there, and for a wrong code', async () => {
    const headers = { 'x-request-id': 'same' };
    const send = (flowToken: string, code: string): Promise<Answer> =>
      gateway.anonymous.post(SECOND, { flowToken, code }, headers);
    const over = await beginFlow();
    await gateway.em().execute(sql`update login_flow set expires_at = now() - interval '1 second'`);
    const wrong = await send(await beginFlow(), enrolled.app.wrongCode());
    expectError(wrong, 401, 'invalid_credentials', null);
    for (const flow of [over, 'A'.repeat(43), 'x', '../..'])
      expect((await send(flow, enrolled.app.code())).body).to.deep.equal(wrong.body);
  });

  it('lives five minutes', async () => {
    await beginFlow();
    const [row] = await gateway.em().execute<{ seconds: number }[]>(sql`
      select max(extract(epoch from expires_at - now()))::float8 as seconds from login_flow`);
    expect(row?.seconds).to.be.within(290, 300);
  });

  it('tells a disabled user so only after password and code', async () => {
    const { user, app } = await enrolUser(gateway);
    const flow = (await logIn(user)).body.data.flowToken;
    await gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${user.id}`);
    expectError(await finish(flow, app.wrongCode()), 401, 'invalid_credentials');
    expectError(await finish(flow, app.code()), 403, 'account_disabled');
    expectError(await logIn(user), 403, 'account_disabled');
    expectError(await logIn({ ...user, password: 'wrong' }), 401, 'invalid_credentials');
  });

  const bodies: [title: string, fields: object, code: string, param: string][] = [
    ['no flow token', { code: '123456' }, 'missing_field', 'flowToken'],
    ['no code', { flowToken: 'x' }, 'missing_field', 'code'],
    ['a code that is a number', { flowToken: 'x', code: 123456 }, 'invalid_value', 'code'],
    ['an endless code', { flowToken: 'x', code: '1'.repeat(10_000) }, 'invalid_value', 'code'],
    ['an unknown field', { flowToken: 'x', code: '1', remember: true }, 'invalid_request', 'remember'],
  ];
  for (const [title, fields, code, param] of bodies)
    it(`refuses ${title}: 400 ${code}`, async () =>
      expectError(await gateway.anonymous.post(SECOND, fields), 400, code, param));

  it('keeps neither flow tokens nor codes where somebody could read them', async () => {
    const flow = await beginFlow();
    const code = enrolled.recoveryCodes[6] ?? '';
    await finish(flow, enrolled.recoveryCodes[6]);
    const kept = [...(await readWholeDatabase(gateway)).values(), gateway.logged()].join('\n');
    for (const secret of [flow, code, code.replaceAll('-', ''), enrolled.secret, enrolled.user.password])
      expect(kept).not.to.include(secret);
  });
});
